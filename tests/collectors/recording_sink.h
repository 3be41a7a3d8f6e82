// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "collectors/row_sink.h"

namespace warpmeter {

// Keeps samples and losses, with their texts, and counts the rest.
struct RecordingSink : RowSink {
  struct Sample {
    SampleRow row;
    std::string metric, unit, source;
  };
  struct Loss {
    LossRow row;
    std::string collector, what, reason;
  };
  std::vector<Sample> samples;
  std::vector<Loss> losses;
  std::vector<std::string> strings;
  std::int64_t others = 0;

  std::int64_t string(std::string_view text) override {
    for (std::size_t i = 0; i < strings.size(); ++i)
      if (strings[i] == text) return static_cast<std::int64_t>(i) + 1;
    strings.emplace_back(text);
    return static_cast<std::int64_t>(strings.size());
  }
  std::int64_t shape(const Shape&) override { return ++others; }
  std::int64_t add(const ProcessRow&) override { return ++others; }
  std::int64_t add(const DeviceRow&) override { return ++others; }
  std::int64_t add(const KernelRow&) override { return ++others; }
  std::int64_t add(const CopyRow&) override { return ++others; }
  std::int64_t add(const SetRow&) override { return ++others; }
  std::int64_t add(const SynchronizationRow&) override { return ++others; }
  std::int64_t add(const ApiRow&) override { return ++others; }
  std::int64_t add(const RangeRow&) override { return ++others; }
  std::int64_t add(const PcSampleRow&) override { return ++others; }
  std::int64_t add(const GraphNodeRow&) override { return ++others; }
  void end_range(std::int64_t, std::int64_t) override { ++others; }
  std::int64_t add(const CounterRow&) override { return ++others; }
  std::int64_t add(const ImageRow&) override { return ++others; }
  std::int64_t add(const SampleRow& row) override {
    samples.push_back({row, strings.at(static_cast<std::size_t>(row.metric_id) - 1),
                       std::string(row.unit), std::string(row.source)});
    return static_cast<std::int64_t>(samples.size());
  }
  std::int64_t add(const LossRow& row) override {
    losses.push_back(
        {row, std::string(row.collector), std::string(row.what), std::string(row.reason)});
    return static_cast<std::int64_t>(losses.size());
  }
};

}  // namespace warpmeter
