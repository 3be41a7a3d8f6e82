// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Wrong uses of the runtime, with the codes that NVIDIA's documentation gives for them.
#include <cuda_runtime_api.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include "tests/emulator/kernels.h"
#include "tests/emulator/managed.h"

namespace {

constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

// An error that is not sticky: reported once, then gone, and work goes on.
void expect_passing(cudaError_t got, cudaError_t want) {
  EXPECT_EQ(got, want);
  EXPECT_EQ(cudaPeekAtLastError(), want);
  EXPECT_EQ(cudaGetLastError(), want);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// A value that is none of the enumeration's.
template <typename E>
E unknown(int value) {
  return std::bit_cast<E>(value);
}

class Misuse : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaMalloc(&data_, 4096), cudaSuccess);
    ASSERT_EQ(cudaMemset(data_, 0, 4096), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  char* at(std::size_t offset) { return static_cast<char*>(data_) + offset; }
  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

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

TEST_F(Misuse, StreamsAndEvents) {
  cudaEvent_t timed = nullptr, untimed = nullptr, gone = nullptr;
  cudaStream_t bad = reinterpret_cast<cudaStream_t>(&timed);
  float elapsed = 0;
  ASSERT_EQ(cudaEventCreate(&timed), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&gone), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventDestroy(gone), cudaSuccess);  // the last, so that no other gets its address
  expect_passing(cudaStreamSynchronize(bad), cudaErrorInvalidResourceHandle);
  expect_passing(cudaStreamQuery(bad), cudaErrorInvalidResourceHandle);
  expect_passing(cudaStreamDestroy(bad), cudaErrorInvalidResourceHandle);
  expect_passing(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  expect_passing(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  expect_passing(cudaStreamCreateWithFlags(&bad, 8), cudaErrorInvalidValue);
  expect_passing(cudaEventCreate(nullptr), cudaErrorInvalidValue);
  expect_passing(cudaEventRecord(gone, stream_), cudaErrorInvalidResourceHandle);
  expect_passing(cudaEventSynchronize(nullptr), cudaErrorInvalidResourceHandle);
  expect_passing(cudaEventQuery(gone), cudaErrorInvalidResourceHandle);
  expect_passing(cudaEventDestroy(gone), cudaErrorInvalidResourceHandle);
  expect_passing(cudaStreamWaitEvent(stream_, gone, 0), cudaErrorInvalidResourceHandle);
  expect_passing(cudaEventElapsedTime(&elapsed, timed, timed), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaEventRecord(timed, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(untimed, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  expect_passing(cudaEventElapsedTime(&elapsed, timed, untimed), cudaErrorInvalidResourceHandle);
  expect_passing(cudaEventElapsedTime(nullptr, timed, timed), cudaErrorInvalidValue);
  cudaStream_t closed = nullptr;
  ASSERT_EQ(cudaStreamCreate(&closed), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(closed), cudaSuccess);
  expect_passing(cudaStreamQuery(closed), cudaErrorInvalidResourceHandle);
}

TEST_F(Misuse, Captures) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t instance = nullptr;
  cudaStream_t other = nullptr;
  cudaEvent_t fork = nullptr;
  void* p = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  const auto begin = [&] {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  };
  const auto expect_spoilt = [&] {
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
  };
  expect_passing(cudaStreamEndCapture(stream_, &graph), cudaErrorIllegalState);
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  expect_spoilt();
  begin();
  EXPECT_EQ(cudaMalloc(&p, 16), cudaErrorStreamCaptureUnsupported);
  expect_spoilt();
  begin();
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorStreamCaptureUnsupported);
  expect_spoilt();
  begin();  // a fork that is not joined
  ASSERT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(fork), cudaErrorCapturedEvent);
  ASSERT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(data_, 0, 4, other), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureUnjoined);
  (void)cudaGetLastError();
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&p, 16), cudaSuccess);  // allowed in this mode
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&instance, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphExecDestroy(instance), cudaSuccess);
  expect_passing(cudaGraphLaunch(instance, stream_), cudaErrorInvalidValue);
  expect_passing(cudaGraphInstantiate(&instance, nullptr, 0), cudaErrorInvalidValue);
  expect_passing(cudaGraphInstantiate(nullptr, graph, 0), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  expect_passing(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

TEST_F(Misuse, Devices) {
  int value = 0;
  expect_passing(cudaSetDevice(-1), cudaErrorInvalidDevice);
  expect_passing(cudaSetDevice(1 << 20), cudaErrorInvalidDevice);
  expect_passing(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99), cudaErrorInvalidDevice);
  expect_passing(cudaDeviceGetAttribute(&value, unknown<cudaDeviceAttr>(9999), 0),
                 cudaErrorInvalidValue);
  expect_passing(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  expect_passing(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  expect_passing(cudaGetDevice(nullptr), cudaErrorInvalidValue);
  expect_passing(cudaMemGetInfo(nullptr, nullptr), cudaErrorInvalidValue);
  expect_passing(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  expect_passing(cudaDeviceEnablePeerAccess(9, 0), cudaErrorInvalidDevice);
  expect_passing(cudaDeviceDisablePeerAccess(9), cudaErrorInvalidDevice);
  expect_passing(cudaDeviceCanAccessPeer(&value, 0, 9), cudaErrorInvalidDevice);
  expect_passing(cudaDeviceSetLimit(unknown<cudaLimit>(77), 1), cudaErrorUnsupportedLimit);
  cudaPointerAttributes attributes;
  expect_passing(cudaPointerGetAttributes(nullptr, data_), cudaErrorInvalidValue);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &value), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_STREQ(cudaGetErrorString(unknown<cudaError_t>(-5)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorName(unknown<cudaError_t>(123456)), "unrecognized error code");
}

TEST_F(Misuse, AResetFreesMemory) {
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, total / 2), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_GE(after, before);
  EXPECT_EQ(cudaFree(p), cudaErrorInvalidValue);
}

// A fault of a kernel: the code, what stderr names, and that all later calls return it.
TEST_F(Misuse, KernelFaultsNameThePlaceAndStay) {
  const auto run = [&](int which, cudaError_t code, std::initializer_list<const char*> parts) {
    testing::internal::CaptureStderr();
    run_fault(which, static_cast<std::uint32_t*>(data_));
    EXPECT_EQ(cudaDeviceSynchronize(), code);
    const std::string text = testing::internal::GetCapturedStderr();
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
    void* p = nullptr;
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaMalloc(&p, 4), code);
    EXPECT_EQ(cudaStreamCreate(&stream), code);
    EXPECT_EQ(cudaGetLastError(), code);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // this thread's error is cleared,
    EXPECT_EQ(cudaDeviceSynchronize(), code);    // the device's is not
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&data_, 4096), cudaSuccess);
  };
  run(fault_bounds, cudaErrorIllegalAddress,
      {"kernel ", "5fault", "PTX line ", "st.global", "block (0,0,0), thread (33,0,0)",
       "out of bounds: 4 B at 0x", "16384 B past the begin of allocation ", "(4096 B at 0x"});
  run(fault_misaligned, cudaErrorMisalignedAddress,
      {"thread (0,0,0)", "4 B at 0x", "which is not a multiple of 4"});
  run(fault_shared, cudaErrorIllegalAddress, {"of 64 B of shared memory", "thread (0,0,0)"});
  run(fault_trap, cudaErrorIllegalInstruction, {"trap"});
  run(fault_assert + 2, cudaErrorLaunchTimeout, {"barrier"});
  void* freed = data_;
  ASSERT_EQ(cudaFree(freed), cudaSuccess);
  run(fault_none, cudaErrorIllegalAddress, {"use of freed memory", ", freed)"});
}

}  // namespace
