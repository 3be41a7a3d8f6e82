// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/device.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "cuda/check.h"
#include "cuda/nvml.h"

namespace warpmeter {
namespace {

bool has_library(const char* name) {
  void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

TEST(FindDevices, WithoutADriverSaysSo) {
  std::string why = "left over";
  const auto devices = find_cuda_devices(why);
  if (!devices.empty()) GTEST_SKIP() << "this machine has a device";
  if (has_library("libcuda.so.1")) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(why, "no CUDA driver: libcuda.so.1 not found");
}

TEST(NvmlLibrary, WhereMissingSaysSo) {
  if (has_library("libnvidia-ml.so.1")) GTEST_SKIP() << "this machine has NVML";
  std::string why;
  EXPECT_EQ(Nvml::open(why), nullptr);
  EXPECT_EQ(why, "no NVML: libnvidia-ml.so.1 not found");
  EXPECT_EQ(device_state(Device{DeviceKind::cuda, 0, {}})["nvml"], why);
}

TEST(GpuCheck, NamesPlaceCallErrorAndRemedy) {
  const std::string text =
      error_text(cudaErrorMemoryAllocation, "/some/where/pinned.cpp", 12, "cudaMalloc(&p, n)");
  EXPECT_EQ(text.rfind("pinned.cpp:12: cudaMalloc(&p, n): cudaErrorMemoryAllocation (", 0), 0u)
      << text;
  EXPECT_NE(text.find("Free device memory"), std::string::npos) << text;
  const std::string plain = error_text(cudaErrorInvalidValue, "a.cpp", 1, "f()");
  EXPECT_EQ(plain.rfind("a.cpp:1: f(): cudaErrorInvalidValue (", 0), 0u) << plain;
}

TEST(GpuCheck, ThrowsTheCode) {
  try {
    GPU_CHECK(cudaSetDevice(-1));
    FAIL() << "device -1 was accepted";
  } catch (const CudaError& error) {
    EXPECT_NE(error.code(), cudaSuccess);
    EXPECT_NE(std::string(error.what()).find("cudaSetDevice(-1)"), std::string::npos);
  }
  EXPECT_NO_THROW(GPU_CHECK(cudaSuccess));
}

}  // namespace
}  // namespace warpmeter
