// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectors/row_sink.h"

namespace warpmeter {

// A sink that keeps what collectors of counters give, with its texts.
class RowList : public RowSink {
 public:
  struct Counter {
    CounterRow row;  // without views
    std::string metric, kernel, unit, source, scope, verdict, reason;
    std::optional<double> value;
    Shape shape;
  };
  struct Loss {
    std::string what, reason;
    std::optional<std::int64_t> count;
  };

  std::int64_t string(std::string_view text) override {
    texts.emplace_back(text);
    return static_cast<std::int64_t>(texts.size());
  }
  std::int64_t shape(const Shape& shape) override {
    shapes.push_back(shape);
    return static_cast<std::int64_t>(shapes.size());
  }
  std::int64_t add(const ProcessRow&) override { return 1; }
  std::int64_t add(const GraphNodeRow&) override { return 1; }
  std::int64_t add(const DeviceRow&) override { return 1; }
  std::int64_t add(const KernelRow&) override { return 1; }
  std::int64_t add(const CopyRow&) override { return 1; }
  std::int64_t add(const SetRow&) override { return 1; }
  std::int64_t add(const SynchronizationRow&) override { return 1; }
  std::int64_t add(const ApiRow&) override { return 1; }
  std::int64_t add(const RangeRow&) override { return 1; }
  std::int64_t add(const SampleRow&) override { return 1; }
  std::int64_t add(const PcSampleRow& row) override {
    pc_samples.push_back(row);
    return 1;
  }
  std::int64_t add(const CounterRow& row) override {
    Counter c;
    c.row = row;
    c.metric = text(row.metric_id);
    c.unit = row.unit;
    c.source = row.source;
    c.scope = row.scope;
    c.verdict = row.verdict;
    c.reason = row.reason.value_or("");
    c.value = row.value;
    if (row.shape_id) c.shape = shapes.at(static_cast<std::size_t>(*row.shape_id - 1));
    if (row.shape_id) c.kernel = text(c.shape.name_id);
    counters.push_back(c);
    return 1;
  }
  std::int64_t add(const LossRow& row) override {
    losses.push_back({std::string(row.what), std::string(row.reason), row.count});
    return 1;
  }
  std::int64_t add(const ImageRow& row) override {
    images.emplace_back(row.kind);
    return 1;
  }

  void end_range(std::int64_t, std::int64_t) override {}

  std::string text(std::int64_t id) const { return texts.at(static_cast<std::size_t>(id - 1)); }

  std::vector<std::string> texts;
  std::vector<Shape> shapes;
  std::vector<Counter> counters;
  std::vector<PcSampleRow> pc_samples;
  std::vector<Loss> losses;
  std::vector<std::string> images;
};

}  // namespace warpmeter
