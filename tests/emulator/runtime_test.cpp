// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cuda_runtime_api.h>

#include <atomic>
#include <numeric>
#include <string>

#include "tests/emulator/kernels.h"
#include "tests/emulator/managed.h"

namespace {

using U32 = std::uint32_t;

class Faults : public testing::TestWithParam<std::tuple<int, cudaError_t>> {};

TEST_P(Faults, AreCudaErrorsThatStayUntilReset) {
  const auto [which, code] = GetParam();
  U32* data = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 4096), cudaSuccess);
  run_fault(which, data);
  const cudaError_t launched = cudaGetLastError();
  if (launched == cudaSuccess) {
    EXPECT_EQ(cudaDeviceSynchronize(), code);
    EXPECT_EQ(cudaMemset(data, 0, 4), code);  // sticky
  } else {
    EXPECT_EQ(launched, code);
  }
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 4096), cudaSuccess);
  run_fault(fault_none, data);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Faults,
                         testing::Values(std::tuple(fault_bounds, cudaErrorIllegalAddress),
                                         std::tuple(fault_misaligned, cudaErrorMisalignedAddress),
                                         std::tuple(fault_shared, cudaErrorIllegalAddress),
                                         std::tuple(fault_trap, cudaErrorIllegalInstruction),
                                         std::tuple(fault_barrier, cudaErrorLaunchTimeout),
                                         std::tuple(fault_unsupported, cudaErrorNotSupported)));

TEST(Faults, UseOfFreedMemory) {
  U32* data = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 4096), cudaSuccess);
  ASSERT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  run_add(data, 1, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

TEST(Launch, ImpossibleConfigurationsAreRefused) {
  U32* data = nullptr;
  void* args[] = {&data};
  const void* kernel = control_kernel(control_nested);
  EXPECT_EQ(cudaLaunchKernel(kernel, 1, 2048, args, 0, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(kernel, 0, 32, args, 0, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(kernel, dim3(1, 70000), 32, args, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(kernel, 1, 32, args, 60 * 1024, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLaunchKernel(&data, 1, 32, args, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024),
            cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Memory, IsFiniteAndBounded) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  void* large = nullptr;
  EXPECT_EQ(cudaMalloc(&large, total + 1), cudaErrorMemoryAllocation);
  ASSERT_EQ(cudaMalloc(&large, 1000), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % 256, 0u);
  char bytes[2000] = {};
  EXPECT_EQ(cudaMemcpy(large, bytes, 1001, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(bytes, bytes + 1000, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  std::iota(bytes, bytes + 1000, static_cast<char>(3));
  ASSERT_EQ(cudaMemcpy(large, bytes, 1000, cudaMemcpyHostToDevice), cudaSuccess);
  char back[1000] = {};
  // Columns 4 to 7 of rows of 20.
  ASSERT_EQ(cudaMemcpy2D(back, 4, static_cast<char*>(large) + 4, 20, 4, 50, cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(back[i], bytes[i / 4 * 20 + 4 + i % 4]);
  ASSERT_EQ(cudaMemset(large, 0x5a, 1000), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(back, large, 1000, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(std::count(back, back + 1000, 0x5a), 1000);
}

class Queues : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&flag_), 128, cudaHostAllocMapped),
              cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), 4096), cudaSuccess);
    ASSERT_EQ(cudaMemset(data_, 0, 4096), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&a_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&b_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    *flag_ = 0;
  }
  U32 read() {
    U32 value = 0;
    EXPECT_EQ(cudaMemcpy(&value, data_, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
  }
  U32* flag_ = nullptr;
  U32* data_ = nullptr;
  cudaStream_t a_ = nullptr;
  cudaStream_t b_ = nullptr;
};

TEST_F(Queues, AKernelWaitsForTheHostAndWorkBehindItWaitsToo) {
  run_spin(flag_, data_, a_);
  run_add(data_, 10, a_);
  EXPECT_EQ(cudaStreamQuery(a_), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(a_), cudaErrorNotReady);
  run_add(data_ + 16, 1, b_);  // another stream goes on meanwhile
  EXPECT_EQ(cudaStreamSynchronize(b_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(a_), cudaErrorNotReady);
  std::atomic_ref<U32>(*flag_).store(1);
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(read(), 11u);
}

TEST_F(Queues, EventsOrderStreamsAndMeasureVirtualTime) {
  cudaEvent_t before = nullptr, after = nullptr, never = nullptr;
  ASSERT_EQ(cudaEventCreate(&before), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&after), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&never), cudaSuccess);
  float first = 0, second = 0;
  for (float* elapsed : {&first, &second}) {
    *flag_ = 0;
    run_spin(flag_, data_, a_);
    ASSERT_EQ(cudaEventRecord(before, a_), cudaSuccess);
    run_add(data_, 1, a_);
    ASSERT_EQ(cudaEventRecord(after, a_), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(b_, after, 0), cudaSuccess);
    run_add(data_, 100, b_);
    EXPECT_EQ(cudaEventQuery(after), cudaErrorNotReady);
    EXPECT_EQ(cudaEventElapsedTime(elapsed, before, after), cudaErrorNotReady);
    *flag_ = 1;
    ASSERT_EQ(cudaStreamSynchronize(b_), cudaSuccess);
    ASSERT_EQ(cudaEventElapsedTime(elapsed, before, after), cudaSuccess);
  }
  EXPECT_EQ(read(), 2u * (1 + 1 + 100));
  EXPECT_GT(first, 0.0005f);  // the gap between kernels of a stream is 1 us on this chip
  EXPECT_LT(first, 0.01f);
  EXPECT_NEAR(first, second, 0.0002f);
  EXPECT_EQ(cudaEventElapsedTime(&first, before, never), cudaErrorInvalidResourceHandle);
}

TEST_F(Queues, GraphsReplayWhatWasCaptured) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t instance = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&join), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  run_add(data_, 1, a_);
  ASSERT_EQ(cudaEventRecord(fork, a_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(b_, fork, 0), cudaSuccess);
  run_add(data_ + 1, 2, b_);
  ASSERT_EQ(cudaEventRecord(join, b_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(a_, join, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(data_ + 2, data_, 8, cudaMemcpyDeviceToDevice, a_), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(a_, &graph), cudaSuccess);
  std::size_t nodes = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 3u);
  EXPECT_EQ(read(), 0u);  // nothing ran
  ASSERT_EQ(cudaGraphInstantiate(&instance, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(instance, a_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  U32 values[4] = {};
  ASSERT_EQ(cudaMemcpy(values, data_, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(values[0], 3u);
  EXPECT_EQ(values[1], 6u);
  EXPECT_EQ(values[2], 3u);
  EXPECT_EQ(values[3], 6u);
}

TEST_F(Queues, CapturesGoWrongAsInCuda) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(a_, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  (void)cudaGetLastError();
}

TEST(Device, SaysThatItIsEmulated) {
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(std::string(properties.name).find("warpmeter emulated "), 0u);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 99), cudaErrorInvalidDevice);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMpsMaxClientsReached), "cudaErrorMpsMaxClientsReached");
}

}  // namespace
