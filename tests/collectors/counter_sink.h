// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "collectors/row_sink.h"

namespace warpmeter {

// A sink that keeps what collectors of counters write. Texts and data live as long as it.
class CounterSink final : public RowSink {
 public:
  struct Image {
    std::string chip, kind;
    std::vector<std::byte> data;
  };

  std::int64_t string(std::string_view text) override {
    for (std::size_t i = 0; i < strings.size(); ++i)
      if (strings[i] == text) return static_cast<std::int64_t>(i) + 1;
    strings.emplace_back(text);
    return std::ssize(strings);
  }
  std::int64_t shape(const Shape&) override { return 1; }
  std::int64_t add(const ProcessRow&) override { return 1; }
  std::int64_t add(const DeviceRow&) override { return 1; }
  std::int64_t add(const KernelRow&) override { return 1; }
  std::int64_t add(const CopyRow&) override { return 1; }
  std::int64_t add(const SetRow&) override { return 1; }
  std::int64_t add(const SynchronizationRow&) override { return 1; }
  std::int64_t add(const ApiRow&) override { return 1; }
  std::int64_t add(const GraphNodeRow&) override { return 1; }
  std::int64_t add(const RangeRow&) override { return 1; }
  std::int64_t add(const PcSampleRow&) override { return 1; }
  void end_range(std::int64_t, std::int64_t) override {}
  std::int64_t add(const CounterRow& row) override { return keep(counters, row); }
  std::int64_t add(const SampleRow& row) override { return keep(samples, row); }
  std::int64_t add(const LossRow& row) override {
    reasons.emplace_back(row.reason);
    return keep(losses, row);
  }
  std::int64_t add(const ImageRow& row) override {
    images.push_back(
        {std::string(row.chip), std::string(row.kind), {row.data.begin(), row.data.end()}});
    return std::ssize(images);
  }

  // Samples of a metric, in order.
  std::vector<SampleRow> of(std::string_view metric) {
    std::vector<SampleRow> out;
    for (const SampleRow& row : samples)
      if (row.metric_id == string(metric)) out.push_back(row);
    return out;
  }

  std::deque<std::string> strings;
  std::vector<CounterRow> counters;
  std::vector<SampleRow> samples;
  std::vector<LossRow> losses;
  std::vector<std::string> reasons;  // of the losses
  std::vector<Image> images;

 private:
  template <typename Row>
  std::int64_t keep(std::vector<Row>& rows, const Row& row) {
    rows.push_back(row);
    return std::ssize(rows);
  }
};

}  // namespace warpmeter
