// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Wrong uses of launches and memory, with the codes that NVIDIA's documentation gives for them.
#include "tests/emulator/misuse.h"

namespace {

TEST_F(Misuse, Launches) {
  void* args[] = {&data_};
  const void* kernel = control_kernel(control_nested);
  const auto launch = [&](dim3 grid, dim3 block, std::size_t shared = 0, cudaStream_t s = nullptr) {
    return cudaLaunchKernel(kernel, grid, block, args, shared, s);
  };
  expect_passing(launch(1, 1025), cudaErrorInvalidConfiguration);
  expect_passing(launch(1, dim3(32, 33)), cudaErrorInvalidConfiguration);
  expect_passing(launch(1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  expect_passing(launch(1, 0), cudaErrorInvalidConfiguration);
  expect_passing(launch(dim3(1, 0), 32), cudaErrorInvalidConfiguration);
  expect_passing(launch(dim3(1, 65536), 32), cudaErrorInvalidConfiguration);
  expect_passing(launch(0x80000000u, 32), cudaErrorInvalidConfiguration);
  expect_passing(launch(dim3(~0u, ~0u, ~0u), dim3(~0u, ~0u, ~0u)), cudaErrorInvalidConfiguration);
  expect_passing(launch(1, 32, 48 * 1024 + 1), cudaErrorInvalidValue);
  expect_passing(launch(1, 32, huge), cudaErrorInvalidValue);
  expect_passing(launch(1, 32, 0, reinterpret_cast<cudaStream_t>(&args)),
                 cudaErrorInvalidResourceHandle);
  expect_passing(cudaLaunchKernel(nullptr, 1, 32, args, 0, nullptr),
                 cudaErrorInvalidDeviceFunction);
  expect_passing(cudaLaunchCooperativeKernel(kernel, 1 << 20, 64, args, 0, nullptr),
                 cudaErrorCooperativeLaunchTooLarge);
  expect_passing(cudaLaunchKernelExC(nullptr, kernel, args), cudaErrorInvalidValue);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = 4;
  config.blockDim = 32;
  config.attrs = &cluster;
  config.numAttrs = 1;
  // This chip has compute capability 8.0.
  expect_passing(cudaLaunchKernelExC(&config, kernel, args), cudaErrorInvalidClusterSize);
  config.gridDim = 3;
  expect_passing(cudaLaunchKernelExC(&config, kernel, args), cudaErrorInvalidConfiguration);
}

TEST_F(Misuse, FunctionsAndOccupancy) {
  const void* kernel = control_kernel(control_nested);
  int blocks = 0;
  cudaFuncAttributes attributes;
  expect_passing(cudaFuncGetAttributes(&attributes, &blocks), cudaErrorInvalidDeviceFunction);
  expect_passing(cudaFuncGetAttributes(nullptr, kernel), cudaErrorInvalidValue);
  expect_passing(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, -2),
                 cudaErrorInvalidValue);
  expect_passing(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30),
                 cudaErrorInvalidValue);
  expect_passing(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 101),
                 cudaErrorInvalidValue);
  expect_passing(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &blocks, 32, 0),
                 cudaErrorInvalidDeviceFunction);
  expect_passing(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 0, 0),
                 cudaErrorInvalidValue);
  expect_passing(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, kernel, 32, 0),
                 cudaErrorInvalidValue);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, huge), cudaSuccess);
  EXPECT_EQ(blocks, 0);
}

TEST_F(Misuse, Allocations) {
  std::size_t free = 0, total = 0, pitch = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  void* p = nullptr;
  expect_passing(cudaMalloc(&p, total), cudaErrorMemoryAllocation);  // some is in use
  expect_passing(cudaMalloc(&p, huge), cudaErrorMemoryAllocation);
  expect_passing(cudaMallocHost(&p, huge), cudaErrorMemoryAllocation);
  expect_passing(cudaHostAlloc(&p, huge / 2, cudaHostAllocMapped), cudaErrorMemoryAllocation);
  expect_passing(cudaMallocManaged(&p, huge, cudaMemAttachGlobal), cudaErrorMemoryAllocation);
  expect_passing(cudaMallocManaged(&p, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
  expect_passing(cudaMallocPitch(&p, &pitch, huge, 2), cudaErrorMemoryAllocation);
  expect_passing(cudaMallocPitch(&p, &pitch, 1 << 20, huge / 2), cudaErrorMemoryAllocation);
  expect_passing(cudaMallocPitch(&p, nullptr, 1, 1), cudaErrorInvalidValue);
  expect_passing(cudaMallocAsync(&p, huge, stream_), cudaErrorMemoryAllocation);
  expect_passing(cudaMalloc(nullptr, 1), cudaErrorInvalidValue);
  // What is freed can be used again.
  ASSERT_EQ(cudaMalloc(&p, free / 2 + 4096), cudaSuccess);
  void* second = nullptr;
  expect_passing(cudaMalloc(&second, free / 2 + 4096), cudaErrorMemoryAllocation);
  ASSERT_EQ(cudaFree(p), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, free / 2 + 4096), cudaSuccess);
  ASSERT_EQ(cudaFree(second), cudaSuccess);
}

TEST_F(Misuse, Frees) {
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
  int local = 0;
  void* host = nullptr;
  ASSERT_EQ(cudaMallocHost(&host, 64), cudaSuccess);
  expect_passing(cudaFree(&local), cudaErrorInvalidValue);
  expect_passing(cudaFree(at(256)), cudaErrorInvalidValue);
  expect_passing(cudaFree(host), cudaErrorInvalidValue);
  expect_passing(cudaFreeHost(data_), cudaErrorInvalidValue);
  expect_passing(cudaFreeAsync(at(16), stream_), cudaErrorInvalidValue);
  ASSERT_EQ(cudaFree(data_), cudaSuccess);
  expect_passing(cudaFree(data_), cudaErrorInvalidValue);
  expect_passing(cudaMemset(data_, 0, 4), cudaErrorInvalidValue);
  expect_passing(cudaMemcpy(&local, data_, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  static char pageable[8192];
  ASSERT_EQ(cudaHostRegister(pageable, 8192, 0), cudaSuccess);
  expect_passing(cudaHostRegister(pageable + 100, 10, 0), cudaErrorHostMemoryAlreadyRegistered);
  expect_passing(cudaHostRegister(pageable, huge, 0), cudaErrorInvalidValue);
  expect_passing(cudaHostRegister(nullptr, 10, 0), cudaErrorInvalidValue);
  expect_passing(cudaHostUnregister(pageable + 8), cudaErrorHostMemoryNotRegistered);
  ASSERT_EQ(cudaHostUnregister(pageable), cudaSuccess);
  expect_passing(cudaHostUnregister(pageable), cudaErrorHostMemoryNotRegistered);
}

TEST_F(Misuse, Copies) {
  char bytes[8192] = {};
  const auto to_device = cudaMemcpyHostToDevice;
  expect_passing(cudaMemcpy(data_, bytes, 4097, to_device), cudaErrorInvalidValue);
  expect_passing(cudaMemcpy(at(4095), bytes, 2, to_device), cudaErrorInvalidValue);
  expect_passing(cudaMemcpy(data_, bytes, huge, to_device), cudaErrorInvalidValue);
  expect_passing(cudaMemcpy(at(8), bytes, huge - 4, to_device), cudaErrorInvalidValue);
  expect_passing(cudaMemcpy(bytes, bytes, 4, to_device), cudaErrorInvalidValue);
  expect_passing(cudaMemcpy(bytes, bytes + 8, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  expect_passing(cudaMemcpy(nullptr, bytes, 4, to_device), cudaErrorInvalidValue);
  expect_passing(cudaMemcpy(data_, bytes, 4, unknown<cudaMemcpyKind>(9)),
                 cudaErrorInvalidMemcpyDirection);
  expect_passing(cudaMemcpyAsync(data_, bytes, 4, to_device, reinterpret_cast<cudaStream_t>(bytes)),
                 cudaErrorInvalidResourceHandle);
  expect_passing(cudaMemcpy2D(data_, 4, bytes, 8, 8, 2, to_device), cudaErrorInvalidPitchValue);
  expect_passing(cudaMemcpy2D(data_, 64, bytes, 64, 8, 65, to_device), cudaErrorInvalidValue);
  expect_passing(cudaMemcpy2D(data_, huge / 2, bytes, huge / 2, 8, 5, to_device),
                 cudaErrorInvalidValue);
  expect_passing(cudaMemset(at(1), 0, 4096), cudaErrorInvalidValue);
  expect_passing(cudaMemset(data_, 0, huge), cudaErrorInvalidValue);
  expect_passing(cudaMemset2D(data_, 1 << 20, 0, 4, 2), cudaErrorInvalidValue);
  expect_passing(cudaMemset(bytes, 0, 4), cudaErrorInvalidValue);
  expect_passing(cudaMemcpyToSymbol(&bytes, bytes, 4, 0, to_device), cudaErrorInvalidSymbol);
  void* address = nullptr;
  expect_passing(cudaGetSymbolAddress(&address, &bytes), cudaErrorInvalidSymbol);
  expect_passing(cudaMemcpyPeer(data_, 0, data_, 77, 4), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemcpy(data_, bytes, 0, to_device), cudaSuccess);
}

}  // namespace
