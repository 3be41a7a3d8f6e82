// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/runtime/properties.h"

#include <fmt/format.h>

#include <cstring>

namespace emulator {
namespace {

static_assert(sizeof(cudaDeviceProp) == 1008);
static_assert(sizeof(cudaFuncAttributes) == 144);
static_assert(sizeof(cudaLaunchConfig_t) == 56);

int whole(std::int64_t value) { return static_cast<int>(value); }

}  // namespace

cudaDeviceProp device_properties(const Chip& chip, int device) {
  cudaDeviceProp p{};
  const std::string name = fmt::format("warpmeter emulated {}", chip.name);
  std::strncpy(p.name, name.c_str(), sizeof p.name - 1);
  std::memcpy(p.uuid.bytes, chip.hash.data(), 15);
  p.uuid.bytes[15] = static_cast<char>(device);
  p.totalGlobalMem = static_cast<std::size_t>(chip.memory_bytes);
  p.sharedMemPerBlock = 48 * 1024;
  p.regsPerBlock = whole(chip.sm_registers);
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = 65536;
  p.major = whole(chip.major);
  p.minor = whole(chip.minor);
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = whole(chip.sm_count);
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.pciBusID = device + 1;
  p.pciDomainID = 0xffff;
  p.asyncEngineCount = whole(chip.copy_engines);
  p.unifiedAddressing = 1;
  p.memoryBusWidth = whole(64 * chip.dram_channels);
  p.l2CacheSize = whole(chip.l2_bytes);
  p.maxThreadsPerMultiProcessor = whole(chip.sm_threads);
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(chip.sm_shared_bytes);
  p.regsPerMultiprocessor = whole(chip.sm_registers);
  p.managedMemory = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(chip.block_shared_bytes);
  p.maxBlocksPerMultiProcessor = whole(chip.sm_blocks);
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.concurrentManagedAccess = 1;
  p.clusterLaunch = chip.major >= 9;
  p.hostNumaId = -1;
  return p;
}

std::optional<int> device_attribute(const Chip& chip, int device, cudaDeviceAttr attribute) {
  const cudaDeviceProp p = device_properties(chip, device);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
      return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
      return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ:
      return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return whole(static_cast<std::int64_t>(p.sharedMemPerBlock));
    case cudaDevAttrTotalConstantMemory:
      return whole(static_cast<std::int64_t>(p.totalConstMem));
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrMaxRegistersPerBlock:
      return p.regsPerBlock;
    case cudaDevAttrClockRate:
      return static_cast<int>(chip.sm_hz / 1e3);
    // A double data rate bus: rate = 2 * clock * width.
    case cudaDevAttrMemoryClockRate:
      return static_cast<int>(chip.dram_bytes_per_second / (2.0 * p.memoryBusWidth / 8) / 1e3);
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrKernelExecTimeout:
      return 0;
    case cudaDevAttrIntegrated:
      return 0;
    case cudaDevAttrCanMapHostMemory:
      return 1;
    case cudaDevAttrComputeMode:
      return cudaComputeModeDefault;
    case cudaDevAttrConcurrentKernels:
      return 1;
    case cudaDevAttrEccEnabled:
      return 0;
    case cudaDevAttrPciBusId:
      return p.pciBusID;
    case cudaDevAttrPciDeviceId:
      return 0;
    case cudaDevAttrPciDomainId:
      return p.pciDomainID;
    case cudaDevAttrTccDriver:
      return 0;
    case cudaDevAttrGlobalMemoryBusWidth:
      return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize:
      return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount:
      return p.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing:
      return 1;
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrStreamPrioritiesSupported:
      return 1;
    case cudaDevAttrGlobalL1CacheSupported:
      return 1;
    case cudaDevAttrLocalL1CacheSupported:
      return 1;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return whole(chip.sm_shared_bytes);
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return p.regsPerMultiprocessor;
    case cudaDevAttrManagedMemory:
      return 1;
    case cudaDevAttrIsMultiGpuBoard:
      return 0;
    case cudaDevAttrHostNativeAtomicSupported:
      return 0;
    case cudaDevAttrPageableMemoryAccess:
      return 0;
    case cudaDevAttrConcurrentManagedAccess:
      return 1;
    case cudaDevAttrComputePreemptionSupported:
      return 0;
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
      return 1;
    case cudaDevAttrCooperativeLaunch:
      return 1;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return whole(chip.block_shared_bytes);
    case cudaDevAttrHostRegisterSupported:
      return 1;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrMaxPersistingL2CacheSize:
      return 0;
    case cudaDevAttrMaxAccessPolicyWindowSize:
      return 0;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return 0;
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
    case cudaDevAttrClusterLaunch:
      return p.clusterLaunch;
    case cudaDevAttrMpsEnabled:
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace emulator
