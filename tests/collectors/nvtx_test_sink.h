// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectors/row_sink.h"

namespace warpmeter {

struct SunkRange {
  std::string name, payload;
  std::string kind;
  std::int64_t thread = 0, start_ns = 0, parent = 0;  // parent 0: none
  OptionalNs end_ns;
};

// Keeps ranges and losses; row ids are places from 1.
class NvtxTestSink final : public RowSink {
 public:
  std::vector<SunkRange> ranges;
  std::map<std::string, std::int64_t> losses;
  std::size_t ends_later = 0;
  bool full = false;  // rows are lost

  std::int64_t string(std::string_view text) override {
    strings_.emplace_back(text);
    return static_cast<std::int64_t>(strings_.size());
  }
  std::int64_t add(const RangeRow& row) override {
    if (full) return 0;
    if (row.parent_id.value_or(0) > static_cast<std::int64_t>(ranges.size()))
      throw std::logic_error("a parent that is not there");
    ranges.push_back({strings_.at(row.name_id - 1), std::string(row.payload.value_or("")),
                      std::string(row.kind), row.thread.value_or(0), row.start_ns,
                      row.parent_id.value_or(0), row.end_ns});
    return static_cast<std::int64_t>(ranges.size());
  }
  void end_range(std::int64_t id, std::int64_t end_ns) override {
    if (ranges.at(id - 1).end_ns) throw std::logic_error("a range ended twice");
    ranges.at(id - 1).end_ns = end_ns;
    ++ends_later;
  }
  std::int64_t add(const LossRow& row) override {
    losses[std::string(row.what)] += row.count.value_or(0);
    return 1;
  }

  std::int64_t shape(const Shape&) override { return none(); }
  std::int64_t add(const ProcessRow&) override { return none(); }
  std::int64_t add(const DeviceRow&) override { return none(); }
  std::int64_t add(const KernelRow&) override { return none(); }
  std::int64_t add(const CopyRow&) override { return none(); }
  std::int64_t add(const SetRow&) override { return none(); }
  std::int64_t add(const SynchronizationRow&) override { return none(); }
  std::int64_t add(const ApiRow&) override { return none(); }
  std::int64_t add(const GraphNodeRow&) override { return none(); }
  std::int64_t add(const CounterRow&) override { return none(); }
  std::int64_t add(const SampleRow&) override { return none(); }
  std::int64_t add(const ImageRow&) override { return none(); }

 private:
  [[noreturn]] static std::int64_t none() { throw std::logic_error("no such row is written"); }
  std::vector<std::string> strings_;
};

}  // namespace warpmeter
