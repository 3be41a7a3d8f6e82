// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/record_rows.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace warpmeter {
namespace {

constexpr std::size_t cached_shapes = 1 << 14;  // a power of two

bool same_shape(const KernelRecord& a, const KernelRecord& b) {
  return a.name == b.name && std::ranges::equal(a.grid, b.grid) &&
         std::ranges::equal(a.block, b.block) && std::ranges::equal(a.cluster, b.cluster) &&
         a.shared_static == b.shared_static && a.shared_dynamic == b.shared_dynamic &&
         a.registers == b.registers;
}

std::size_t slot(const KernelRecord& record) {
  std::uint64_t hash = record.name;
  for (const std::uint32_t size : record.grid) hash = hash * 0x9e3779b97f4a7c15 + size;
  hash = hash * 0x9e3779b97f4a7c15 + record.block[0];
  hash = hash * 0x9e3779b97f4a7c15 + record.shared_dynamic;
  return static_cast<std::size_t>((hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9 >> 32) &
         (cached_shapes - 1);
}

Shape shape_of(const KernelRecord& record, std::int64_t name_id) {
  Shape shape;
  shape.name_id = name_id;
  for (int i = 0; i < 3; ++i) {
    shape.grid[i] = record.grid[i];
    shape.block[i] = record.block[i];
    shape.cluster[i] = std::max<std::int64_t>(record.cluster[i], 1);
  }
  shape.shared_static = record.shared_static;
  shape.shared_dynamic = record.shared_dynamic;
  shape.registers = record.registers;
  return shape;
}

constexpr std::uint64_t latest = std::numeric_limits<std::int64_t>::max();

bool has_time(const KernelRecord& record) {
  return record.start_ns != 0 && record.end_ns >= record.start_ns && record.end_ns <= latest;
}

}  // namespace

NameTable::NameTable(std::size_t max_names, std::size_t max_bytes)
    : max_names_(max_names), max_bytes_(max_bytes) {
  names_.push_back(&ids_.emplace("(too many names)", overflow).first->first);
}

std::uint32_t NameTable::intern(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
  if (names_.size() > max_names_ || bytes_ + name.size() > max_bytes_) {
    ++overflowed_;
    return overflow;
  }
  bytes_ += name.size();
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.push_back(&ids_.emplace(name, id).first->first);
  return id;
}

std::string_view NameTable::text(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  return *names_.at(id);
}

std::uint64_t NameTable::overflowed() const {
  const std::lock_guard lock(mutex_);
  return overflowed_;
}

KernelRows::KernelRows(RowSink& sink, const NameTable& names, std::int64_t process_id,
                       std::vector<std::int64_t> device_ids)
    : sink_(sink),
      names_(names),
      process_id_(process_id),
      device_ids_(std::move(device_ids)),
      shapes_(cached_shapes) {}

std::int64_t KernelRows::shape_id(const KernelRecord& record) {
  CachedShape& cached = shapes_[slot(record)];
  if (cached.id != 0 && same_shape(cached.record, record)) return cached.id;
  if (record.name >= name_ids_.size()) name_ids_.resize(record.name + 1);
  std::int64_t& name_id = name_ids_[record.name];
  if (name_id == 0) name_id = sink_.string(names_.text(record.name));
  cached = {record, sink_.shape(shape_of(record, name_id))};
  return cached.id;
}

void KernelRows::convert(std::span<const KernelRecord> records, std::vector<KernelRow>& rows) {
  rows.clear();
  rows.reserve(records.size());
  for (const KernelRecord& record : records) {
    const auto correlation = static_cast<std::int64_t>(correlations_.unwrap(record.correlation));
    if (record.device >= device_ids_.size()) {
      ++without_device_;
      continue;
    }
    KernelRow& row = rows.emplace_back();
    row.process_id = process_id_;
    row.device_id = device_ids_[record.device];
    row.context = record.context;
    row.stream = record.stream;
    row.correlation = correlation;
    if (has_time(record)) {
      row.start_ns = static_cast<std::int64_t>(record.start_ns);
      row.end_ns = static_cast<std::int64_t>(record.end_ns);
    } else {
      ++without_time_;
    }
    if (record.graph != 0) {
      row.graph = record.graph;
      row.graph_node = static_cast<std::int64_t>(record.graph_node);
    }
    row.shape_id = shape_id(record);
  }
}

void KernelRows::lose(const char* what, std::uint64_t count, const char* reason) {
  if (count == 0) return;
  LossRow loss;
  loss.process_id = process_id_;
  loss.collector = "timeline";
  loss.what = what;
  loss.count = static_cast<std::int64_t>(count);
  loss.reason = reason;
  sink_.add(loss);
}

void KernelRows::report(const DroppedRecords& dropped) {
  if (dropped.count != 0) {
    LossRow loss;
    loss.process_id = process_id_;
    loss.collector = "timeline";
    loss.what = "kernels";
    loss.count = static_cast<std::int64_t>(dropped.count);
    loss.from_ns = static_cast<std::int64_t>(dropped.from_ns);
    loss.to_ns = static_cast<std::int64_t>(dropped.to_ns);
    loss.reason = "all buffers were full";
    sink_.add(loss);
  }
  lose("kernels", std::exchange(without_device_, 0), "of a device that is not known");
  lose("times of kernels", std::exchange(without_time_, 0),
       "the source gave no usable start and end; the rows are there");
  const std::uint64_t overflowed = names_.overflowed();
  lose("names of kernels", overflowed - std::exchange(names_lost_, overflowed),
       "the table of names was full; the rows are there");
}

}  // namespace warpmeter
