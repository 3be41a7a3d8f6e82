// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Activity records from what the runtime tells.
#include "emulator/driver/cupti_records.h"

#include <pthread.h>
#include <unistd.h>

#include <cstring>

#include "emulator/driver/cupti_buffers.h"
#include "emulator/driver/cupti_external.h"

namespace emulator {
namespace {

bool enabled(CUpti_ActivityKind kind) {
  const std::lock_guard lock(state().mutex);
  return state().kinds.test(static_cast<std::size_t>(kind));
}

CUpti_ActivityMemoryKind memory_kind(Place place) {
  switch (place) {
    case Place::pageable:
      return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    case Place::pinned:
      return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    case Place::managed:
      return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    case Place::code:
      return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC;
    case Place::device:
      break;
  }
  return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

bool on_host(Place place) { return place == Place::pageable || place == Place::pinned; }

CUpti_ActivityMemcpyKind copy_kind(const Work& work) {
  if (on_host(work.from)) {
    return on_host(work.to) ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  }
  return on_host(work.to) ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

// Members that records of all device work have.
template <typename Record>
Record about(const Work& work, CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  record.start = client_ns(work.begin_ns);
  record.end = client_ns(work.end_ns);
  record.deviceId = static_cast<std::uint32_t>(work.device);
  record.contextId = work.context;
  record.streamId = work.stream;
  record.correlationId = work.correlation;
  record.graphId = work.graph;
  record.graphNodeId = work.node;
  return record;
}

void record_kernel(const Work& work) {
  const bool concurrent = enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  const bool serial = enabled(CUPTI_ACTIVITY_KIND_KERNEL);
  if (!concurrent && !serial) return;
  auto record = about<CUpti_ActivityKernel10>(
      work, concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_KERNEL);
  record.registersPerThread = static_cast<std::uint16_t>(work.registers);
  record.gridX = static_cast<std::int32_t>(work.grid[0]);
  record.gridY = static_cast<std::int32_t>(work.grid[1]);
  record.gridZ = static_cast<std::int32_t>(work.grid[2]);
  record.blockX = static_cast<std::int32_t>(work.block[0]);
  record.blockY = static_cast<std::int32_t>(work.block[1]);
  record.blockZ = static_cast<std::int32_t>(work.block[2]);
  const bool clusters = work.cluster[0] * work.cluster[1] * work.cluster[2] > 1;
  record.clusterX = clusters ? work.cluster[0] : 0;
  record.clusterY = clusters ? work.cluster[1] : 0;
  record.clusterZ = clusters ? work.cluster[2] : 0;
  record.staticSharedMemory = static_cast<std::int32_t>(work.static_shared);
  record.dynamicSharedMemory = static_cast<std::int32_t>(work.dynamic_shared);
  record.sharedMemoryExecuted = work.static_shared + work.dynamic_shared;
  record.localMemoryPerThread = static_cast<std::uint32_t>(work.local_bytes);
  record.gridId = static_cast<std::int64_t>(work.id);
  record.name = work.name;
  record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
  static const std::uint64_t zero_every = faults().number("zero_times");
  static std::uint64_t count = 0;  // the engine's lock is held
  if (zero_every != 0 && ++count % zero_every == 0) record.start = record.end = 0;
  buffers().stage(record);
  if (!concurrent || !serial) return;
  // As has been seen of the real library when both kinds are enabled.
  record.kind = CUPTI_ACTIVITY_KIND_KERNEL;
  record.start = record.end = 0;
  buffers().stage(record);
}

void record_copy(const Work& work) {
  const bool peers = !on_host(work.from) && !on_host(work.to) && work.from_device != work.to_device;
  if (peers && enabled(CUPTI_ACTIVITY_KIND_MEMCPY2)) {
    auto record = about<CUpti_ActivityMemcpyPtoP4>(work, CUPTI_ACTIVITY_KIND_MEMCPY2);
    record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    record.srcKind = static_cast<std::uint8_t>(memory_kind(work.from));
    record.dstKind = static_cast<std::uint8_t>(memory_kind(work.to));
    record.flags = work.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
    record.bytes = work.bytes;
    record.srcDeviceId = static_cast<std::uint32_t>(work.from_device);
    record.dstDeviceId = static_cast<std::uint32_t>(work.to_device);
    record.srcContextId = record.dstContextId = work.context;
    record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
    buffers().stage(record);
  }
  if (peers || !enabled(CUPTI_ACTIVITY_KIND_MEMCPY)) return;
  auto record = about<CUpti_ActivityMemcpy6>(work, CUPTI_ACTIVITY_KIND_MEMCPY);
  record.copyKind = static_cast<std::uint8_t>(copy_kind(work));
  record.srcKind = static_cast<std::uint8_t>(memory_kind(work.from));
  record.dstKind = static_cast<std::uint8_t>(memory_kind(work.to));
  record.flags = work.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  record.bytes = work.bytes;
  record.copyCount = 1;
  record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  buffers().stage(record);
}

void record_fill(const Work& work) {
  if (!enabled(CUPTI_ACTIVITY_KIND_MEMSET)) return;
  auto record = about<CUpti_ActivityMemset4>(work, CUPTI_ACTIVITY_KIND_MEMSET);
  record.value = work.value;
  record.bytes = work.bytes;
  record.flags = work.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
  record.memoryKind = static_cast<std::uint16_t>(memory_kind(work.to));
  record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
  buffers().stage(record);
}

CUpti_ActivitySynchronizationType type_of(Synchronization::Kind kind) {
  switch (kind) {
    case Synchronization::Kind::event:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
    case Synchronization::Kind::stream_wait:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
    case Synchronization::Kind::stream:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    case Synchronization::Kind::context:
      break;
  }
  return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
}

std::uint32_t thread_id(bool system) {
  return system ? static_cast<std::uint32_t>(::gettid())
                : static_cast<std::uint32_t>(::pthread_self());
}

}  // namespace

std::uint64_t client_ns(std::uint64_t ns) {
  return ns + static_cast<std::uint64_t>(state().clock_offset_ns.load());
}

void record_work(const Work& work) {
  switch (work.kind) {
    case Work::Kind::kernel:
      return record_kernel(work);
    case Work::Kind::copy:
      return record_copy(work);
    case Work::Kind::fill:
      return record_fill(work);
  }
}

void record_synchronization(const Synchronization& synchronization) {
  if (!enabled(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  CUpti_ActivitySynchronization2 record;
  std::memset(&record, 0, sizeof record);
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = type_of(synchronization.kind);
  record.start = client_ns(synchronization.begin_ns);
  record.end = client_ns(synchronization.end_ns);
  record.correlationId = synchronization.correlation;
  record.contextId = synchronization.context == nullptr ? 0 : synchronization.context->id;
  record.streamId = synchronization.stream == 0
                        ? static_cast<std::uint32_t>(CUPTI_SYNCHRONIZATION_INVALID_VALUE)
                        : synchronization.stream;
  record.cudaEventId = synchronization.event == 0
                           ? static_cast<std::uint32_t>(CUPTI_SYNCHRONIZATION_INVALID_VALUE)
                           : synchronization.event;
  buffers().stage(record);
}

void record_api(const ApiSite& site, std::uint32_t runtime_cbid, std::uint32_t driver_cbid) {
  bool runtime_wanted = false;
  bool driver_wanted = false;
  bool external_wanted = false;
  bool system_ids = false;
  {
    const std::lock_guard lock(state().mutex);
    runtime_wanted = state().runtime_records.test(runtime_cbid);
    driver_wanted = driver_cbid != 0 && state().driver_records.test(driver_cbid);
    external_wanted = state().kinds.test(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    system_ids = state().system_thread_ids;
  }
  if (!runtime_wanted && !driver_wanted) return;
  if (external_wanted) record_external(site.correlation);
  CUpti_ActivityAPI record;
  std::memset(&record, 0, sizeof record);
  record.start = client_ns(site.begin_ns);
  record.end = client_ns(site.end_ns);
  record.processId = static_cast<std::uint32_t>(::getpid());
  record.threadId = thread_id(system_ids);
  record.correlationId = site.correlation;
  record.returnValue = static_cast<std::uint32_t>(site.result);
  if (driver_wanted) {
    record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    record.cbid = driver_cbid;
    buffers().stage(record);
  }
  if (runtime_wanted) {
    record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    record.cbid = runtime_cbid;
    buffers().stage(record);
  }
}

void record_context(const Context& context) {
  if (!enabled(CUPTI_ACTIVITY_KIND_CONTEXT)) return;
  CUpti_ActivityContext3 record;
  std::memset(&record, 0, sizeof record);
  record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  record.contextId = context.id;
  record.deviceId = static_cast<std::uint32_t>(context.device);
  record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  record.nullStreamId = static_cast<std::uint16_t>(context.null_stream);
  record.numMultiprocessors = static_cast<std::uint16_t>(runtime().chip().sms);
  buffers().stage(record);
}

void record_device(int device) {
  const ChipFacts& chip = runtime().chip();
  const auto attribute = [device](CUdevice_attribute which) {
    int value = 0;
    runtime().attribute(&value, which, device);
    return static_cast<std::uint32_t>(value);
  };
  CUpti_ActivityDevice5 record;
  std::memset(&record, 0, sizeof record);
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  record.flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS;
  record.globalMemoryBandwidth = static_cast<std::uint64_t>(chip.dram_bytes_per_second / 1e3);
  record.globalMemorySize = chip.memory_bytes;
  record.l2CacheSize = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  record.numThreadsPerWarp = 32;
  record.coreClockRate = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  record.numMemcpyEngines = attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  record.numMultiprocessors = static_cast<std::uint32_t>(chip.sms);
  record.maxWarpsPerMultiprocessor =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 32;
  record.maxBlocksPerMultiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  record.maxSharedMemoryPerMultiprocessor =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  record.maxRegistersPerMultiprocessor =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  record.maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  record.computeCapabilityMajor = static_cast<std::uint32_t>(chip.major);
  record.computeCapabilityMinor = static_cast<std::uint32_t>(chip.minor);
  record.id = static_cast<std::uint32_t>(device);
  runtime().uuid(record.uuid.bytes, device);
  static const auto* const name = new std::string(std::string("warpmeter emulated ") + chip.name);
  record.name = name->c_str();
  record.isCudaVisible = 1;
  buffers().stage(record);
}

}  // namespace emulator
