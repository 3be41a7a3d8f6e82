// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/activity_rows.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "collectors/launch_calls.h"

namespace warpmeter {
namespace {

static_assert(CUPTI_API_VERSION >= 130000, "the structs below are those of CUDA 13.0");

constexpr std::size_t kernel_batch = 4096;
constexpr std::uint64_t latest = std::numeric_limits<std::int64_t>::max();

std::vector<std::int64_t> ids_of(const std::vector<TargetDevice>& devices) {
  std::vector<std::int64_t> ids;
  for (const TargetDevice& device : devices) ids.push_back(device.row_id);
  return ids;
}

std::string_view copy_kind(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "host_to_device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "device_to_host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return "device_to_device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "host_to_host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "peer";
    default:
      return "unknown";
  }
}

std::optional<std::string_view> memory_kind(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return "pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return "pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return "device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
      return "array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return "managed";
    default:
      return std::nullopt;
  }
}

std::string_view synchronization_kind(int type) {
  constexpr std::string_view kinds[] = {"unknown", "event", "stream_wait_event", "stream",
                                        "context"};
  return type >= 0 && type < static_cast<int>(std::size(kinds)) ? kinds[type] : kinds[0];
}

const char* overhead_kind(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "driver compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "CUPTI buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "CUPTI instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "CUPTI resources";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "module loading by the runtime";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "lazy function loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "command buffer full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "activity buffer request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
      return "unified memory activity";
    default:
      return "unknown";
  }
}

template <typename Number>
Number clamped(std::int64_t value) {
  return static_cast<Number>(
      std::clamp<std::int64_t>(value, 0, std::numeric_limits<Number>::max()));
}

}  // namespace

ActivityRows::ActivityRows(const Target& target, RowSink& sink)
    : target_(target),
      sink_(sink),
      kernel_rows_(sink, names_, target.process_id, ids_of(target.devices)) {
  kernels_.reserve(kernel_batch);
}

// CUPTI gives all records of a kernel the same text, so that its address is a key; a module that is
// unloaded may leave the address to another one's kernel, hence the comparison.
std::uint32_t ActivityRows::name_of(const char* text) {
  if (text == nullptr) text = "(no name)";
  std::uint32_t& id = name_by_pointer_[text];
  if (id == 0 || names_.text(id) != text) id = names_.intern(text);
  return id;
}

std::int64_t ActivityRows::correlation(std::uint32_t id) {
  return static_cast<std::int64_t>(kernel_rows_.correlations().unwrap(id));
}

bool ActivityRows::set_times(OptionalNs& start, OptionalNs& end, std::uint64_t from,
                             std::uint64_t to) {
  if (from == 0 || to < from || to > latest) return false;
  start = static_cast<std::int64_t>(from);
  end = static_cast<std::int64_t>(to);
  return true;
}

// What copies and sets have in common. False if the device is not known.
template <typename Row, typename Activity>
bool ActivityRows::fill(Row& row, const Activity& activity) {
  if (activity.deviceId >= target_.devices.size()) {
    ++without_device_;
    return false;
  }
  row.process_id = target_.process_id;
  row.device_id = target_.devices[activity.deviceId].row_id;
  row.context = activity.contextId;
  row.stream = activity.streamId;
  row.correlation = correlation(activity.correlationId);
  if (activity.graphId != 0) {
    row.graph = activity.graphId;
    row.graph_node = static_cast<std::int64_t>(activity.graphNodeId);
  }
  row.bytes = static_cast<std::int64_t>(activity.bytes);
  if (!set_times(row.start_ns, row.end_ns, activity.start, activity.end)) ++without_time_;
  return true;
}

void ActivityRows::add_kernel(const CUpti_ActivityKernel10& activity) {
  KernelRecord record;
  record.start_ns = activity.start;
  record.end_ns = activity.end;
  record.graph_node = activity.graphNodeId;
  record.graph = activity.graphId;
  record.correlation = activity.correlationId;
  record.name = name_of(activity.name);
  record.device = activity.deviceId;
  record.context = activity.contextId;
  record.stream = activity.streamId;
  const std::int32_t grid[] = {activity.gridX, activity.gridY, activity.gridZ};
  const std::int32_t block[] = {activity.blockX, activity.blockY, activity.blockZ};
  const std::uint32_t cluster[] = {activity.clusterX, activity.clusterY, activity.clusterZ};
  for (int i = 0; i < 3; ++i) {
    record.grid[i] = clamped<std::uint32_t>(grid[i]);
    record.block[i] = clamped<std::uint16_t>(block[i]);
    record.cluster[i] = clamped<std::uint8_t>(cluster[i]);
  }
  record.shared_static = clamped<std::uint32_t>(activity.staticSharedMemory);
  record.shared_dynamic = clamped<std::uint32_t>(activity.dynamicSharedMemory);
  record.registers = activity.registersPerThread;
  kernels_.push_back(record);
}

std::size_t ActivityRows::flush_kernels() {
  kernel_rows_.convert(kernels_, rows_);
  kernels_.clear();
  for (const KernelRow& row : rows_) sink_.add(row);
  kernel_count_ += rows_.size();
  return rows_.size();
}

std::size_t ActivityRows::add_copy(const CUpti_ActivityMemcpy6& activity) {
  CopyRow row;
  if (!fill(row, activity)) return 0;
  row.kind = copy_kind(activity.copyKind);
  row.source_memory = memory_kind(activity.srcKind);
  row.target_memory = memory_kind(activity.dstKind);
  sink_.add(row);
  return 1;
}

std::size_t ActivityRows::add_peer_copy(const CUpti_ActivityMemcpyPtoP4& activity) {
  CopyRow row;
  if (!fill(row, activity)) return 0;
  row.kind = "peer";
  row.source_memory = memory_kind(activity.srcKind);
  row.target_memory = memory_kind(activity.dstKind);
  const std::uint32_t peer =
      activity.deviceId == activity.dstDeviceId ? activity.srcDeviceId : activity.dstDeviceId;
  if (peer < target_.devices.size()) row.peer_device_id = target_.devices[peer].row_id;
  sink_.add(row);
  return 1;
}

std::size_t ActivityRows::add_set(const CUpti_ActivityMemset4& activity) {
  SetRow row;
  if (!fill(row, activity)) return 0;
  row.memory = memory_kind(activity.memoryKind);
  row.value = activity.value;
  sink_.add(row);
  return 1;
}

std::size_t ActivityRows::add_synchronization(const CUpti_ActivitySynchronization2& activity) {
  SynchronizationRow row;
  row.process_id = target_.process_id;
  if (activity.contextId != 0) row.context = activity.contextId;
  const bool of_stream = activity.streamId != CUPTI_SYNCHRONIZATION_INVALID_VALUE &&
                         activity.type != CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  if (of_stream) row.stream = activity.streamId;
  if (!set_times(row.start_ns, row.end_ns, activity.start, activity.end)) ++without_time_;
  row.correlation = correlation(activity.correlationId);
  row.kind = synchronization_kind(activity.type);
  sink_.add(row);
  return 1;
}

// As a range of a domain of its own, so that it is seen beside the gap that it explains.
std::size_t ActivityRows::add_overhead(const CUpti_ActivityOverhead3& activity) {
  OptionalNs start, end;
  if (!set_times(start, end, activity.start, activity.end)) {
    ++without_time_;
    return 0;
  }
  const char* kind = overhead_kind(activity.overheadKind);
  overhead_ns_[kind] += *end - *start;
  RangeRow row;
  row.process_id = target_.process_id;
  if (activity.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
    row.thread = activity.objectId.pt.threadId;
  row.domain_id = sink_.string("CUPTI overhead");
  row.name_id = sink_.string(kind);
  row.kind = "start_end";
  row.start_ns = *start;
  row.end_ns = end;
  sink_.add(row);
  return 1;
}

}  // namespace warpmeter
