// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "collectors/plan.h"
#include "core/error.h"
#include "profiler/writer_state.h"

namespace warpmeter {

template <typename... T>
std::int64_t ProfileWriter::insert(int table, const T&... values) {
  State& state = *state_;
  if (!state.failure.empty()) {
    state.lose(table);
    return 0;
  }
  const std::int64_t id = state.last_id[table] + 1;
  try {
    state.inserts[table].bind(id, values...).run();
  } catch (const sqlite::Error& error) {
    if (error.constraint())
      throw InputError(
          fmt::format("cannot write a row of {}: {}", profile_tables()[table].name, error.what()));
    ++state.unflushed[table];
    state.break_off(error);
    return 0;
  }
  state.last_id[table] = id;
  ++state.unflushed[table];
  return id;
}

std::int64_t ProfileWriter::string(std::string_view text) {
  State& state = *state_;
  if (const auto found = state.strings.find(text); found != state.strings.end())
    return found->second;
  if (!state.failure.empty()) return 0;
  state.find_string.bind(text);
  std::int64_t id = state.lookup(state.find_string);
  if (id == 0) id = insert(strings_table, text);
  return id == 0 ? 0 : state.remember(text, id);
}

std::int64_t ProfileWriter::shape(const Shape& s) {
  State& state = *state_;
  if (const auto found = state.shapes.find(s); found != state.shapes.end()) return found->second;
  const auto with_columns = [&s](auto&& use) {
    return use(s.name_id, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2],
               s.cluster[0], s.cluster[1], s.cluster[2], s.shared_static, s.shared_dynamic,
               s.registers);
  };
  if (!state.failure.empty()) return 0;
  with_columns([&](const auto&... values) { state.find_shape.bind(values...); });
  std::int64_t id = state.lookup(state.find_shape);
  if (id == 0)
    id = with_columns([&](const auto&... values) { return insert(shapes_table, values...); });
  return id == 0 ? 0 : state.remember(s, id);
}

std::int64_t ProfileWriter::add(const ProcessRow& r) {
  return insert(processes_table, r.pid, r.parent_pid, r.command, r.host, r.boot_id,
                r.clock_offset_ns, r.clock_applied_ns);
}

std::int64_t ProfileWriter::add(const DeviceRow& r) {
  return insert(devices_table, r.ordinal, r.uuid, r.name, r.chip, r.facts);
}

std::int64_t ProfileWriter::add(const KernelRow& r) {
  return insert(kernels_table, r.process_id, r.device_id, r.context, r.stream, r.start_ns, r.end_ns,
                r.correlation, r.graph, r.graph_node, r.shape_id, r.range_id, r.capture_range_id);
}

std::int64_t ProfileWriter::add(const CopyRow& r) {
  return insert(copies_table, r.process_id, r.device_id, r.context, r.stream, r.start_ns, r.end_ns,
                r.correlation, r.graph, r.graph_node, r.kind, r.source_memory, r.target_memory,
                r.peer_device_id, r.bytes, r.range_id);
}

std::int64_t ProfileWriter::add(const SetRow& r) {
  return insert(sets_table, r.process_id, r.device_id, r.context, r.stream, r.start_ns, r.end_ns,
                r.correlation, r.graph, r.graph_node, r.memory, r.bytes, r.value, r.range_id);
}

std::int64_t ProfileWriter::add(const SynchronizationRow& r) {
  return insert(synchronizations_table, r.process_id, r.device_id, r.context, r.stream, r.start_ns,
                r.end_ns, r.correlation, r.kind);
}

std::int64_t ProfileWriter::add(const ApiRow& r) {
  return insert(api_table, r.process_id, r.thread, r.start_ns, r.end_ns, r.correlation, r.name_id,
                r.result, r.range_id);
}

std::int64_t ProfileWriter::add(const GraphNodeRow& r) {
  return insert(graph_nodes_table, r.process_id, r.node, r.source_node, r.thread, r.time_ns);
}

std::int64_t ProfileWriter::add(const RangeRow& r) {
  return insert(ranges_table, r.process_id, r.thread, r.domain_id, r.name_id, r.category_id,
                r.payload, r.kind, r.start_ns, r.end_ns, r.parent_id);
}

std::int64_t ProfileWriter::add(const CounterRow& row) {
  CounterRow r = row;
  for (std::optional<double>* number : {&r.value, &r.low, &r.high}) {
    if (!*number || std::isfinite(**number)) continue;
    *number = std::nullopt;
    if (!r.reason) r.reason = "the value was not finite";
  }
  if (!r.value && !r.reason)
    throw InputError("cannot write a row of counters: a value of null needs a reason");
  return insert(counters_table, r.kernel_id, r.shape_id, r.range_id, r.device_id, r.metric_id,
                r.value, r.unit, r.source, r.scope, r.passes, r.low, r.high, r.level, r.verdict,
                r.reason);
}

std::int64_t ProfileWriter::add(const SampleRow& r) {
  const auto value = r.value && std::isfinite(*r.value) ? r.value : std::nullopt;
  return insert(samples_table, r.process_id, r.device_id, r.time_ns, r.metric_id, value, r.unit,
                r.source);
}

std::int64_t ProfileWriter::add(const PcSampleRow& r) {
  return insert(pc_samples_table, r.process_id, r.device_id, r.function_id, r.cubin_crc,
                r.pc_offset, r.reason_id, r.samples);
}

std::int64_t ProfileWriter::add(const LossRow& r) {
  return insert(losses_table, r.process_id, r.collector, r.what, r.count, r.from_ns, r.to_ns,
                r.reason);
}

std::int64_t ProfileWriter::add(const ImageRow& r) {
  const std::string hash = image_hash(r.data);
  return insert(images_table, r.process_id, r.device_id, r.chip, r.kind,
                static_cast<std::int64_t>(r.data.size()), std::string_view(hash), r.data);
}

void ProfileWriter::end_range(std::int64_t id, std::int64_t end_ns) {
  State& state = *state_;
  ++state.unflushed_ends;
  if (!state.failure.empty()) return state.lose_ends();
  try {
    state.end_range.bind(end_ns, id).run();
  } catch (const sqlite::Error& error) {
    state.break_off(error);
  }
}

std::string image_hash(std::span<const std::byte> data) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data.data());
  return fmt::format("fnv1a64:{:016x}", hash_image({bytes, data.size()}));
}

}  // namespace warpmeter
