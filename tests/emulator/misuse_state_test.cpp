// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Wrong uses of streams, captures and devices, with the codes that NVIDIA's documentation gives for
// them.
#include <string>

#include "tests/emulator/misuse.h"

namespace {

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
      {", thread (", "4 B at 0x", "which is not a multiple of 4"});
  run(fault_shared, cudaErrorIllegalAddress, {"of 64 B of shared memory", ", thread ("});
  run(fault_trap, cudaErrorIllegalInstruction, {"trap"});
  run(fault_assert + 2, cudaErrorLaunchTimeout, {"barrier"});
  void* freed = data_;
  ASSERT_EQ(cudaFree(freed), cudaSuccess);
  run(fault_none, cudaErrorIllegalAddress, {"use of freed memory", ", freed)"});
}

TEST(Peers, AreReachedOnlyWhenEnabled) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  if (count < 2) GTEST_SKIP() << "one device";
  std::uint32_t* data = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 64), cudaSuccess);
  ASSERT_EQ(cudaMemset(data, 0, 64), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  run_add(data, 1, stream);  // a stream of the other device
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  expect_passing(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  testing::internal::CaptureStderr();
  run_add(data, 1, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("memory of a device without peer access"), std::string::npos) << text;
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
  expect_passing(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
  run_add(data, 7, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::uint32_t value = 0;
  ASSERT_EQ(cudaMemcpy(&value, data, 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(value, 7u);
}

TEST(LargeClusters, NeedTheAttribute) {
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  if (properties.major < 9) GTEST_SKIP() << "no clusters";
  const void* kernel = control_kernel(control_nested);
  void* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 4096), cudaSuccess);
  void* args[] = {&data};
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config = {};
  config.gridDim = 32;
  config.blockDim = 32;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cluster.val.clusterDim = {0, 1, 1};
  expect_passing(cudaLaunchKernelExC(&config, kernel, args), cudaErrorInvalidConfiguration);
  cluster.val.clusterDim = {3, 1, 1};
  expect_passing(cudaLaunchKernelExC(&config, kernel, args), cudaErrorInvalidConfiguration);
  cluster.val.clusterDim = {32, 1, 1};
  expect_passing(cudaLaunchKernelExC(&config, kernel, args), cudaErrorInvalidClusterSize);
  cluster.val.clusterDim = {16, 1, 1};
  expect_passing(cudaLaunchKernelExC(&config, kernel, args), cudaErrorInvalidClusterSize);
  ASSERT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchKernelExC(&config, kernel, args), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}  // namespace
