// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the emulated libcuda and libcupti ask the runtime.
#include <cstring>

#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/module.h"
#include "emulator/runtime/properties.h"

namespace emulator {
namespace {

CUresult start_driver() {
  try {
    return start() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
  } catch (const std::exception& error) {
    explain(error.what());
    return CUDA_ERROR_NO_DEVICE;
  }
}

void listen(const Listener* to) { the_listener.store(to, std::memory_order_release); }

const ChipFacts& facts() {
  static const ChipFacts result = [] {
    const Chip& chip = the_chip();
    ChipFacts f;
    f.name = chip.name.c_str();
    f.devices = static_cast<int>(chip.devices);
    f.major = static_cast<int>(chip.major);
    f.minor = static_cast<int>(chip.minor);
    f.sms = static_cast<int>(chip.sm_count);
    f.memory_bytes = static_cast<std::size_t>(chip.memory_bytes);
    f.sector_bytes = static_cast<int>(chip.l1_sector);
    f.sm_hz = chip.sm_hz;
    f.dram_bytes_per_second = chip.dram_bytes_per_second;
    return f;
  }();
  return result;
}

std::uint64_t in_virtual_time(std::uint64_t (*function)()) {
  const HostThread before = host_thread;
  host_thread = {true, false};
  const std::uint64_t result = function();
  host_thread = before;
  return result;
}

bool exists(int device) { return device >= 0 && device < the_chip().devices; }

std::uint64_t settle(int device) {
  const InCall in_call;
  const Lock lock(engine().mutex);
  engine().catch_up();
  return clock_of(engine().settled(device));
}

CUresult synchronize(int device) {
  const InCall in_call;
  Lock lock(engine().mutex);
  if (!exists(device)) return CUDA_ERROR_INVALID_CONTEXT;
  engine().wait(streams().all_work(device), lock);
  return static_cast<CUresult>(engine().fault(device));
}

const Context* context(int device, bool create) {
  Lock lock(engine().mutex);
  if (!exists(device)) return nullptr;
  if (create) need_context(device, "", lock);
  return context_of(device, false);
}

const Context* current() {
  const Lock lock(engine().mutex);
  return host_thread.uses_runtime ? context_of(thread_state().device, false) : nullptr;
}

CUresult set_current(const Context* to) {
  const Lock lock(engine().mutex);
  if (to == nullptr || context_of(to->device, false) != to) return CUDA_ERROR_INVALID_CONTEXT;
  thread_state().device = to->device;
  host_thread.uses_runtime = true;
  return CUDA_SUCCESS;
}

// The numbers of driver and runtime are the same.
CUresult attribute(int* value, int number, int device) {
  if (!exists(device)) return CUDA_ERROR_INVALID_DEVICE;
  const auto found = device_attribute(the_chip(), device, static_cast<cudaDeviceAttr>(number));
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  *value = *found;
  return CUDA_SUCCESS;
}

void uuid(char bytes[16], int device) {
  std::memcpy(bytes, device_properties(the_chip(), device).uuid.bytes, 16);
}

std::uint32_t stream_id(CUstream handle, bool per_thread, int device) {
  const Lock lock(engine().mutex);
  if (!exists(device)) return 0;
  const Stream* const found =
      streams().find(handle == nullptr && per_thread ? cudaStreamPerThread : handle, device);
  return found == nullptr ? 0 : found->id;
}

std::uint32_t graph_id(CUgraph graph) {
  const Lock lock(engine().mutex);
  const Graph* const found = graph_behind(graph);
  return found == nullptr ? 0 : found->id;
}

std::uint32_t exec_id(CUgraphExec exec) {
  const Lock lock(engine().mutex);
  const Graph* const found = graph_behind(exec);
  return found == nullptr ? 0 : found->exec_id;
}

std::uint64_t node_id(CUgraphNode node) {
  return node == nullptr ? 0 : reinterpret_cast<const Graph::Node*>(node)->id;
}

CUgraphNodeType node_type(CUgraphNode node) {
  return static_cast<CUgraphNodeType>(reinterpret_cast<const Graph::Node*>(node)->type);
}

bool kernel_node(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  if (node == nullptr) return false;
  const Launched& launched = reinterpret_cast<const Graph::Node*>(node)->launched;
  if (launched.kernel == nullptr) return false;
  const Grid& grid = *launched.grid;
  *params = {};
  params->func = reinterpret_cast<CUfunction>(const_cast<Kernel*>(launched.kernel));
  params->gridDimX = grid.grid.x;
  params->gridDimY = grid.grid.y;
  params->gridDimZ = grid.grid.z;
  params->blockDimX = grid.block.x;
  params->blockDimY = grid.block.y;
  params->blockDimZ = grid.block.z;
  params->sharedMemBytes = grid.dynamic_shared;
  return true;
}

const char* kernel_name(CUfunction function) {
  const Lock lock(engine().mutex);
  const Kernel* const kernel = registry().kernel(function);
  return kernel == nullptr ? nullptr : kernel->name.c_str();
}

}  // namespace
}  // namespace emulator

extern "C" EMULATOR_API const emulator::RuntimeTable* cudaWarpmeterEmulatedRuntime(
    unsigned version) {
  using namespace emulator;
  static const RuntimeTable table = {seam_version,
                                     start_driver,
                                     started,
                                     forked,
                                     listen,
                                     facts,
                                     clock_now,
                                     in_virtual_time,
                                     settle,
                                     synchronize,
                                     context,
                                     current,
                                     set_current,
                                     attribute,
                                     uuid,
                                     stream_id,
                                     graph_id,
                                     exec_id,
                                     node_id,
                                     node_type,
                                     kernel_node,
                                     kernel_name,
                                     driver_stream_query,
                                     driver_stream_capturing,
                                     driver_function_attribute};
  return version == seam_version ? &table : nullptr;
}
