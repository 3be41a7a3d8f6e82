// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "cuda/bracket.h"
#include "cuda/check.h"
#include "cuda/device.h"
#include "cuda/handles.h"
#include "cuda/instruments.h"
#include "kernels/micro/empty.h"
#include "microbench/cuda/table.h"

namespace warpmeter {
namespace {

// Needs a device (real or emulated): skips without one, and fails if WARPMETER_REQUIRE_GPU=1.
class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    const auto devices = find_cuda_devices(why);
    const char* required = std::getenv("WARPMETER_REQUIRE_GPU");
    if (!devices.empty()) {
      device_ = devices[0];
    } else if (required != nullptr && std::string(required) == "1") {
      FAIL() << why;
    } else {
      GTEST_SKIP() << why;
    }
  }
  Device device_;
};

TEST_F(OnDevice, EveryRowMeasuresItsFirstQuickPoint) {
  for (const Benchmark& row : cuda_benchmarks()) {
    const Parameters point = row.points(device_, Effort::quick).at(0);
    if (const auto reason = row.unsupported(device_, point)) {
      std::printf("%s: %s\n", row.id.c_str(), reason->c_str());
      continue;
    }
    const auto benchmark = row.make(device_, point);
    for (int i = 0; i < 3; ++i) {
      const Sample sample = benchmark->sample();
      EXPECT_TRUE(std::isfinite(sample.value) && sample.value > 0) << row.id;
      if (const auto limit = row.limit(device_, point)) {
        EXPECT_LE(sample.value, 1.02 * *limit) << row.id;
      }
    }
    EXPECT_TRUE(benchmark->conditions().is_object()) << row.id;
  }
}

TEST_F(OnDevice, AFailedCheckTakesTheStoredError) {
  EXPECT_THROW(GPU_CHECK(cudaSetDevice(-1)), CudaError);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(OnDevice, TheGateGivesUpInsteadOfHanging) {
  const DeviceGuard guard(device_.ordinal);
  const Stream stream = make_stream();
  Bracket bracket(0.05);
  EXPECT_THROW(bracket.time(stream.get(), [](cudaStream_t s) { (void)cudaStreamSynchronize(s); }),
               std::runtime_error);
  EXPECT_GT(bracket.time(stream.get(), [](cudaStream_t s) { launch_empty(s); }), 0);
}

TEST_F(OnDevice, AThrowingEnqueueOpensTheGate) {
  const DeviceGuard guard(device_.ordinal);
  const Stream stream = make_stream();
  Bracket bracket;
  EXPECT_THROW(bracket.time(stream.get(), [](cudaStream_t) { throw std::logic_error("stop"); }),
               std::logic_error);
  EXPECT_GT(bracket.time(stream.get(), [](cudaStream_t s) { launch_empty(s); }), 0);
}

}  // namespace
}  // namespace warpmeter
