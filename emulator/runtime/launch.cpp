// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Launches in all forms, and the attributes and occupancy of kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/module.h"
#include "emulator/runtime/stream.h"

namespace emulator {
namespace {

constexpr int plain_shared_limit = 48 * 1024;

const Program& program_of(Kernel& kernel, int device) {
  return kernel.module->program(kernel.name, device);
}

cudaError_t refuse(const std::string& text, cudaError_t code) {
  explain(text);
  return code;
}

std::uint64_t largest_cluster(const Kernel& kernel) { return kernel.large_clusters ? 16 : 8; }

struct Request {
  dim3 grid;
  dim3 block;
  dim3 cluster{1, 1, 1};
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  bool programmatic = false;  // may start before the kernel ahead of it has ended
};

cudaError_t check(const Request& request, const Kernel& kernel, const Program& program,
                  const Device& device) {
  const dim3& b = request.block;
  const dim3& g = request.grid;
  const std::uint64_t threads = std::uint64_t{b.x} * b.y * b.z;
  if (threads == 0 || std::uint64_t{g.x} * g.y * g.z == 0) return cudaErrorInvalidConfiguration;
  if (threads > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64) return cudaErrorInvalidConfiguration;
  if (g.x > 0x7fffffff || g.y > 65535 || g.z > 65535) return cudaErrorInvalidConfiguration;
  if (threads > program.max_threads) {
    return refuse(fmt::format("kernel {}: {} threads; it was compiled for at most {}", kernel.name,
                              threads, program.max_threads),
                  program.required_size ? cudaErrorInvalidValue : cudaErrorLaunchOutOfResources);
  }
  if (program.required_size &&
      (b.x != program.required[0] || b.y != program.required[1] || b.z != program.required[2])) {
    return cudaErrorInvalidConfiguration;
  }
  const int allowed =
      std::max(kernel.dynamic_shared, plain_shared_limit - static_cast<int>(program.shared_bytes));
  if (request.shared > static_cast<std::size_t>(std::max(allowed, 0))) {
    return refuse(
        fmt::format(
            "kernel {}: {} B of dynamic shared memory, of which cudaFuncSetAttribute allows {}",
            kernel.name, request.shared, allowed),
        cudaErrorInvalidValue);
  }
  const int resident = device.blocks_per_sm(program, threads, request.shared);
  if (resident == 0) return cudaErrorLaunchOutOfResources;
  if (request.cooperative &&
      std::uint64_t{g.x} * g.y * g.z > static_cast<std::uint64_t>(resident) *
                                           static_cast<std::uint64_t>(device.chip().sm_count)) {
    return cudaErrorCooperativeLaunchTooLarge;
  }
  const dim3& c = request.cluster;
  const std::uint64_t cluster = std::uint64_t{c.x} * c.y * c.z;
  if (cluster == 0 || g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0) {
    return cudaErrorInvalidConfiguration;
  }
  if (cluster > 1 && (device.chip().major < 9 || cluster > largest_cluster(kernel))) {
    return cudaErrorInvalidClusterSize;
  }
  if (cluster >
      static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(device.chip().sm_count)) {
    return cudaErrorInvalidClusterSize;
  }
  return cudaSuccess;
}

cudaError_t launch(const void* function, Request request, void** args) {
  Kernel* kernel = registry().kernel(function);
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  const int current = thread_state().device;
  Stream* stream = streams().find(request.stream, current);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->device != current) return cudaErrorInvalidResourceHandle;
  Device& device = *engine().devices()[static_cast<std::size_t>(current)];
  const Program& program = program_of(*kernel, current);
  const std::uint32_t* fixed = program.cluster;
  if (fixed[0] != 0) request.cluster = {fixed[0], fixed[1], fixed[2]};
  const cudaError_t checked = check(request, *kernel, program, device);
  if (checked != cudaSuccess) return checked;
  auto grid = std::make_shared<Grid>();
  grid->program = &program;
  grid->grid = {request.grid.x, request.grid.y, request.grid.z};
  grid->block = {request.block.x, request.block.y, request.block.z};
  grid->cluster = {request.cluster.x, request.cluster.y, request.cluster.z};
  grid->dynamic_shared = static_cast<std::uint32_t>(request.shared);
  grid->params.resize(program.param_bytes);
  if (!program.params.empty() && args == nullptr) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < program.params.size(); ++i) {
    std::memcpy(grid->params.data() + program.params[i].offset, args[i], program.params[i].size);
  }
  if (request.programmatic && device.chip().major >= 9) {
    return streams().add_dependent(*stream, grid, kernel);
  }
  return streams().add(*stream, cudaGraphNodeTypeKernel, make_kernel(current, grid),
                       {kernel, grid});
}

}  // namespace

// PTX has no allocated registers: what a full SM leaves each thread, within the ISA's limit.
int registers_per_thread() {
  const Chip& chip = the_chip();
  return static_cast<int>(std::min<std::int64_t>(32, chip.sm_registers / chip.sm_threads));
}

CUresult driver_function_attribute(int* value, CUfunction_attribute attribute,
                                   CUfunction function) {
  const Lock lock(engine().mutex);
  Kernel* const kernel = registry().kernel(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const Program& program = program_of(*kernel, thread_state().device);
  if (attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    *value = static_cast<int>(program.shared_bytes);
  else if (attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
    *value = static_cast<int>(program.local_bytes);
  else if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
    *value = registers_per_thread();
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

}  // namespace emulator

using emulator::call;
using emulator::Kernel;
using emulator::launch_call;
using emulator::Lock;
using emulator::registry;
using emulator::Request;
using emulator::thread_state;

extern "C" {

EMULATOR_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                                          std::size_t shared, cudaStream_t stream) {
  const emulator::ApiCall api("cudaLaunchKernel",
                              launch_call(function, grid, block, shared, stream));
  return call([&](Lock&) {
    return emulator::launch(function, Request{grid, block, {1, 1, 1}, shared, stream, false, false},
                            args);
  });
}

EMULATOR_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                            std::size_t shared, cudaStream_t stream) {
  const emulator::ApiCall api("__cudaLaunchKernel",
                              launch_call(kernel, grid, block, shared, stream));
  return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

EMULATOR_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                     void** args, std::size_t shared,
                                                     cudaStream_t stream) {
  auto launched = launch_call(function, grid, block, shared, stream);
  launched.cooperative = true;
  const emulator::ApiCall api("cudaLaunchCooperativeKernel", launched);
  return call([&](Lock&) {
    return emulator::launch(function, Request{grid, block, {1, 1, 1}, shared, stream, true, false},
                            args);
  });
}

EMULATOR_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                             void** args) {
  const emulator::ApiCall api("cudaLaunchKernelExC", launch_call(config, function));
  return call([&](Lock&) -> cudaError_t {
    if (config == nullptr) return cudaErrorInvalidValue;
    Request request{config->gridDim,
                    config->blockDim,
                    {1, 1, 1},
                    config->dynamicSmemBytes,
                    config->stream,
                    false,
                    false};
    for (unsigned int i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      if (attribute.id == cudaLaunchAttributeCooperative)
        request.cooperative = attribute.val.cooperative != 0;
      if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
        request.programmatic = attribute.val.programmaticStreamSerializationAllowed != 0;
      if (attribute.id == cudaLaunchAttributeClusterDimension) {
        request.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y,
                           attribute.val.clusterDim.z};
      }
    }
    return emulator::launch(function, request, args);
  });
}

EMULATOR_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                               const void* function) {
  return call([&](Lock&) -> cudaError_t {
    Kernel* kernel = registry().kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    if (attributes == nullptr) return cudaErrorInvalidValue;
    const emulator::Program& program = emulator::program_of(*kernel, thread_state().device);
    const emulator::Chip& chip = emulator::the_chip();
    *attributes = {};
    attributes->sharedSizeBytes = program.shared_bytes;
    attributes->localSizeBytes = program.local_bytes;
    attributes->maxThreadsPerBlock = static_cast<int>(program.max_threads);
    attributes->numRegs = emulator::registers_per_thread();
    attributes->ptxVersion = static_cast<int>(10 * chip.major + chip.minor);
    attributes->binaryVersion = attributes->ptxVersion;
    attributes->maxDynamicSharedSizeBytes =
        std::max(kernel->dynamic_shared,
                 emulator::plain_shared_limit - static_cast<int>(program.shared_bytes));
    attributes->preferredShmemCarveout = kernel->carveout;
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute,
                                              int value) {
  return call([&](Lock&) -> cudaError_t {
    Kernel* kernel = registry().kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      const emulator::Program& program = emulator::program_of(*kernel, thread_state().device);
      if (value < 0 || value + static_cast<std::int64_t>(program.shared_bytes) >
                           emulator::the_chip().block_shared_bytes) {
        return cudaErrorInvalidValue;
      }
      kernel->dynamic_shared = value;
    } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      kernel->carveout = value;
    } else if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
      kernel->large_clusters = value != 0;
    } else {
      return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }

EMULATOR_API cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return call([&](Lock&) -> cudaError_t {
    Kernel* kernel = registry().kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    if (name == nullptr) return cudaErrorInvalidValue;
    *name = kernel->name.c_str();
    return cudaSuccess;
  });
}

}  // extern "C"
