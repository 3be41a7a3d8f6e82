// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The host's monotonic clock in programs under emulation.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

double calendar_s() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(HostClock, SleepsTakeNoRealTime) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  const double real = calendar_s();
  const auto begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::hours(1));
  EXPECT_NEAR(Seconds(Clock::now() - begin).count(), 3600, 1e-3);
  EXPECT_LT(calendar_s() - real, 60);
}

TEST(HostClock, CallsTakeWhatTheChipFileSays) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  const auto begin = Clock::now();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(cudaPeekAtLastError(), cudaSuccess);
  int device = 0;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
  // tiny.json: api_ns 300; peeking starts nothing, and a reading of the clock takes 20 ns.
  EXPECT_NEAR(Seconds(Clock::now() - begin).count(), 1000 * 300e-9, 1e-7);
}

TEST(HostClock, IsRealInThreadsThatDoNotUseTheRuntime) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  double slept = 0;
  double real = 0;
  std::thread([&] {
    const double first = calendar_s();
    const auto begin = Clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    slept = Seconds(Clock::now() - begin).count();
    real = calendar_s() - first;
  }).join();
  EXPECT_GE(slept, 0.05);
  EXPECT_GE(real, 0.05);
}

TEST(HostClock, NeverRunsBackwards) {
  auto last = Clock::now();
  for (int i = 0; i < 100; ++i) {
    if (i == 50) {
      ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    }
    const auto now = Clock::now();
    EXPECT_GE(now, last) << i;
    last = now;
  }
}

TEST(HostClock, RefusesImpossibleSleeps) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  const timespec impossible{0, 2'000'000'000};
  EXPECT_EQ(nanosleep(&impossible, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
