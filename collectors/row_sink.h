// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "collectors/rows.h"

namespace warpmeter {

// Where collectors put what they have: the store, or a test. One thread at a time.
class RowSink {
 public:
  virtual ~RowSink() = default;

  virtual std::int64_t string(std::string_view text) = 0;  // the id of this text
  virtual std::int64_t shape(const Shape& shape) = 0;      // the id of this shape

  // Each returns the row's id; 0 if the row was lost, which the sink counts.
  virtual std::int64_t add(const ProcessRow& row) = 0;
  virtual std::int64_t add(const DeviceRow& row) = 0;
  virtual std::int64_t add(const KernelRow& row) = 0;
  virtual std::int64_t add(const CopyRow& row) = 0;
  virtual std::int64_t add(const SetRow& row) = 0;
  virtual std::int64_t add(const SynchronizationRow& row) = 0;
  virtual std::int64_t add(const ApiRow& row) = 0;
  virtual std::int64_t add(const GraphNodeRow& row) = 0;
  virtual std::int64_t add(const RangeRow& row) = 0;
  virtual std::int64_t add(const CounterRow& row) = 0;
  virtual std::int64_t add(const SampleRow& row) = 0;
  virtual std::int64_t add(const PcSampleRow& row) = 0;
  virtual std::int64_t add(const LossRow& row) = 0;
  virtual std::int64_t add(const ImageRow& row) = 0;

  // Gives a range its end that was written without one; `id` is what add() returned, not 0.
  virtual void end_range(std::int64_t id, std::int64_t end_ns) = 0;
};

}  // namespace warpmeter
