// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// How many blocks and clusters fit.
#include <algorithm>

#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/module.h"

using emulator::call;
using emulator::Kernel;
using emulator::Lock;
using emulator::registry;
using emulator::thread_state;

namespace {

// Blocks of a launch that the device holds at a time; clusters may spread over all SMs.
std::uint64_t resident_blocks(Kernel& kernel, const cudaLaunchConfig_t& config) {
  const int current = thread_state().device;
  const emulator::Program& program = kernel.module->program(kernel.name, current);
  const dim3& b = config.blockDim;
  const std::uint64_t threads = std::uint64_t{b.x} * b.y * b.z;
  if (threads == 0 || threads > program.max_threads) return 0;
  const auto& device = *emulator::engine().devices()[static_cast<std::size_t>(current)];
  return static_cast<std::uint64_t>(
             device.blocks_per_sm(program, threads, config.dynamicSmemBytes)) *
         static_cast<std::uint64_t>(device.chip().sm_count);
}

// Of the launch attribute, or of the kernel itself.
std::uint64_t cluster_size(Kernel& kernel, const cudaLaunchConfig_t& config) {
  const emulator::Program& program = kernel.module->program(kernel.name, thread_state().device);
  const std::uint32_t* c = program.cluster;
  if (c[0] != 0) return std::uint64_t{c[0]} * c[1] * c[2];
  for (unsigned int i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& d = config.attrs[i].val.clusterDim;
    return std::uint64_t{d.x} * d.y * d.z;
  }
  return 1;
}

}  // namespace

extern "C" {

EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, std::size_t shared, unsigned int) {
  return call([&](Lock&) -> cudaError_t {
    Kernel* kernel = registry().kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    if (threads <= 0 || blocks == nullptr) return cudaErrorInvalidValue;
    const int current = thread_state().device;
    const emulator::Program& program = kernel->module->program(kernel->name, current);
    const auto count = static_cast<std::uint64_t>(threads);
    *blocks = count > program.max_threads
                  ? 0
                  : emulator::engine().devices()[static_cast<std::size_t>(current)]->blocks_per_sm(
                        program, count, shared);
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                       const void* function,
                                                                       int threads,
                                                                       std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                0);
}

EMULATOR_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                        const cudaLaunchConfig_t* config) {
  return call([&](Lock&) -> cudaError_t {
    Kernel* kernel = registry().kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
    const std::uint64_t size = cluster_size(*kernel, *config);
    if (size == 0) return cudaErrorInvalidValue;
    if (size > 1 && (emulator::the_chip().major < 9 || size > (kernel->large_clusters ? 16 : 8))) {
      return cudaErrorInvalidClusterSize;
    }
    *clusters = static_cast<int>(resident_blocks(*kernel, *config) / size);
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                              const cudaLaunchConfig_t* config) {
  return call([&](Lock&) -> cudaError_t {
    Kernel* kernel = registry().kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
    const std::uint64_t limit = emulator::the_chip().major < 9 ? 1
                                : kernel->large_clusters       ? 16
                                                               : 8;
    *size = static_cast<int>(std::min(limit, resident_blocks(*kernel, *config)));
    return cudaSuccess;
  });
}

}  // extern "C"
