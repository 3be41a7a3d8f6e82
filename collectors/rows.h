// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Rows of a profile as they are written: one struct a table, members in the order of its columns
// without `id`. Meanings, units and what null says: docs/profile_schema.md. Text is not kept beyond
// the call that takes the row; ids of strings come from ProfileWriter::string.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace warpmeter {

using OptionalId = std::optional<std::int64_t>;
using OptionalNs = std::optional<std::int64_t>;

struct ProcessRow {
  std::int64_t pid = 0;
  OptionalId parent_pid;
  std::string_view command;
  std::optional<std::string_view> host, boot_id;
  OptionalNs clock_offset_ns;  // added to this process's times: CLOCK_MONOTONIC of its boot
  std::int64_t clock_applied_ns = 0;
};

struct DeviceRow {
  std::optional<std::int64_t> ordinal;
  std::optional<std::string_view> uuid;
  std::string_view name;
  std::optional<std::string_view> chip;
  std::string_view facts = "{}";  // JSON, as core/facts.h
};

// What a launch of a kernel looks like: rows of many launches share it.
struct Shape {
  std::int64_t name_id = 0;
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::optional<std::int64_t> shared_static, shared_dynamic, registers;
  bool operator==(const Shape&) const = default;
};

struct KernelRow {
  std::int64_t process_id = 0, device_id = 0;
  OptionalId context, stream;
  OptionalNs start_ns, end_ns;
  OptionalId correlation, graph, graph_node;
  std::int64_t shape_id = 0;
  OptionalId range_id, capture_range_id;
};

struct CopyRow {
  std::int64_t process_id = 0, device_id = 0;
  OptionalId context, stream;
  OptionalNs start_ns, end_ns;
  OptionalId correlation, graph, graph_node;
  std::string_view kind;
  std::optional<std::string_view> source_memory, target_memory;
  OptionalId peer_device_id;
  std::int64_t bytes = 0;
  OptionalId range_id;
};

struct SetRow {
  std::int64_t process_id = 0, device_id = 0;
  OptionalId context, stream;
  OptionalNs start_ns, end_ns;
  OptionalId correlation, graph, graph_node;
  std::optional<std::string_view> memory;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> value;
  OptionalId range_id;
};

struct SynchronizationRow {
  std::int64_t process_id = 0;
  OptionalId device_id, context, stream;
  OptionalNs start_ns, end_ns;
  OptionalId correlation;
  std::string_view kind;
};

struct ApiRow {
  std::int64_t process_id = 0, thread = 0, start_ns = 0, end_ns = 0;
  OptionalId correlation;
  std::int64_t name_id = 0;
  std::optional<std::int64_t> result;
  OptionalId range_id;
};

// A node of a graph as it was made in `thread`, or cloned from `source_node`.
struct GraphNodeRow {
  std::int64_t process_id = 0, node = 0;
  OptionalId source_node;
  std::int64_t thread = 0, time_ns = 0;
};

struct RangeRow {
  std::int64_t process_id = 0;
  OptionalId thread, domain_id;
  std::int64_t name_id = 0;
  OptionalId category_id;
  std::optional<std::string_view> payload;  // JSON
  std::string_view kind = "push_pop";       // push_pop, start_end, mark
  std::int64_t start_ns = 0;
  OptionalNs end_ns;
  OptionalId parent_id;
};

struct CounterRow {
  OptionalId kernel_id, shape_id, range_id, device_id;
  std::int64_t metric_id = 0;
  std::optional<double> value;
  std::string_view unit, source, scope;
  std::optional<std::int64_t> passes;
  std::optional<double> low, high, level;
  std::string_view verdict = "ok";
  std::optional<std::string_view> reason;
};

// Samples of one instruction with one stall reason since the row before it.
struct PcSampleRow {
  std::int64_t process_id = 0, device_id = 0, function_id = 0, cubin_crc = 0, pc_offset = 0,
               reason_id = 0, samples = 0;
};

struct SampleRow {
  std::int64_t process_id = 0, device_id = 0, time_ns = 0, metric_id = 0;
  std::optional<double> value;
  std::string_view unit, source;
};

struct LossRow {
  OptionalId process_id;
  std::string_view collector, what;
  std::optional<std::int64_t> count;
  OptionalNs from_ns, to_ns;
  std::string_view reason;
};

struct ImageRow {
  OptionalId process_id, device_id;
  std::string_view chip, kind;
  std::span<const std::byte> data;  // `length` and `hash` are computed from it
};

}  // namespace warpmeter
