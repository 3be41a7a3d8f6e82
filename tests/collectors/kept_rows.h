// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectors/row_sink.h"

namespace warpmeter {

// A sink that keeps what the tests of collectors look at, with texts that live as long as it, and
// counts all else. Ids are places from 1.
class KeptRows final : public RowSink {
 public:
  struct Counter : CounterRow {
    std::string metric, kernel;
    Shape shape;
  };
  struct Sample : SampleRow {
    std::string metric;
  };
  struct Range : RangeRow {
    std::string name;
  };
  struct Image {
    std::string chip, kind;
    std::vector<std::byte> data;
  };

  KeptRows() = default;
  KeptRows(KeptRows&&) = default;

  std::vector<Counter> counters;
  std::vector<Sample> samples;
  std::vector<PcSampleRow> pc_samples;
  std::vector<Range> ranges;
  std::vector<LossRow> losses;
  std::vector<Image> images;
  std::size_t others = 0;
  std::size_t ends_later = 0;  // of ranges
  bool full = false;           // ranges are lost

  const std::string& text(std::int64_t id) const {
    return texts_.at(static_cast<std::size_t>(id - 1));
  }
  // Samples of a metric, in order.
  std::vector<Sample> of(std::string_view metric) const {
    std::vector<Sample> out;
    for (const Sample& row : samples)
      if (row.metric == metric) out.push_back(row);
    return out;
  }
  // Counts of the losses that have one, by what was lost.
  std::map<std::string, std::int64_t> lost() const {
    std::map<std::string, std::int64_t> out;
    for (const LossRow& row : losses) out[std::string(row.what)] += row.count.value_or(0);
    return out;
  }
  std::size_t images_of(std::string_view kind) const {
    std::size_t count = 0;
    for (const Image& image : images) count += image.kind == kind;
    return count;
  }

  std::int64_t string(std::string_view text) override {
    const auto [place, added] = ids_.try_emplace(std::string(text), std::ssize(texts_) + 1);
    if (added) texts_.emplace_back(text);
    return place->second;
  }
  std::int64_t shape(const Shape& shape) override { return keep(shapes_, shape); }
  std::int64_t add(const ProcessRow&) override { return other(); }
  std::int64_t add(const DeviceRow&) override { return other(); }
  std::int64_t add(const KernelRow&) override { return other(); }
  std::int64_t add(const CopyRow&) override { return other(); }
  std::int64_t add(const SetRow&) override { return other(); }
  std::int64_t add(const SynchronizationRow&) override { return other(); }
  std::int64_t add(const ApiRow&) override { return other(); }
  std::int64_t add(const GraphNodeRow&) override { return other(); }
  std::int64_t add(const PcSampleRow& row) override { return keep(pc_samples, row); }
  std::int64_t add(const RangeRow& row) override {
    if (full) return 0;
    if (row.parent_id.value_or(0) > std::ssize(ranges))
      throw std::logic_error("a parent that is not there");
    Range kept{row, text(row.name_id)};
    own(kept.payload, kept.kind);
    return keep(ranges, kept);
  }
  std::int64_t add(const CounterRow& row) override {
    Counter kept{row, text(row.metric_id), "", {}};
    own(kept.unit, kept.source, kept.scope, kept.verdict, kept.reason);
    if (row.shape_id) kept.shape = shapes_.at(static_cast<std::size_t>(*row.shape_id - 1));
    if (row.shape_id) kept.kernel = text(kept.shape.name_id);
    return keep(counters, kept);
  }
  std::int64_t add(const SampleRow& row) override {
    Sample kept{row, text(row.metric_id)};
    own(kept.unit, kept.source);
    return keep(samples, kept);
  }
  std::int64_t add(const LossRow& row) override {
    LossRow kept = row;
    own(kept.collector, kept.what, kept.reason);
    return keep(losses, kept);
  }
  std::int64_t add(const ImageRow& row) override {
    return keep(images,
                {std::string(row.chip), std::string(row.kind), {row.data.begin(), row.data.end()}});
  }
  void end_range(std::int64_t id, std::int64_t end_ns) override {
    OptionalNs& end = ranges.at(static_cast<std::size_t>(id - 1)).end_ns;
    if (end) throw std::logic_error("a range ended twice");
    end = end_ns;
    ++ends_later;
  }

 private:
  template <typename Row>
  static std::int64_t keep(std::vector<Row>& rows, const Row& row) {
    rows.push_back(row);
    return std::ssize(rows);
  }
  std::int64_t other() { return static_cast<std::int64_t>(++others); }

  template <typename... Views>
  void own(Views&... views) {
    (own_one(views), ...);
  }
  void own_one(std::string_view& view) { view = text(string(view)); }
  void own_one(std::optional<std::string_view>& view) {
    if (view) own_one(*view);
  }

  std::deque<std::string> texts_;  // their places in memory stay
  std::map<std::string, std::int64_t> ids_;
  std::vector<Shape> shapes_;
};

}  // namespace warpmeter
