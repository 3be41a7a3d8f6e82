// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/dependent.h"

#include "tests/emulator/managed.h"

namespace {

using U32 = std::uint32_t;

DependentTimes run(Trigger trigger, bool programmatic) {
  Managed<U32> data(4);
  Managed<DependentTimes> times(1);
  for (U32 i = 0; i < 4; ++i) data[i] = 0;
  times[0] = {};
  run_dependents(trigger, programmatic, data.get(), times.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(times[0].seen, 203u);  // 100 + 103
  EXPECT_GE(times[0].second_behind_wait, times[0].first_end);
  return times[0];
}

TEST(Dependents, StartWhenAllBlocksAllowItAndWaitForTheEnd) {
  const DependentTimes times = run(Trigger::early, true);
  EXPECT_LT(times.second_begin + 15000, times.first_end);
  EXPECT_EQ(times.seen_before_wait, 0u);
}

TEST(Dependents, OneBlockHoldsThemAllBack) {
  const DependentTimes times = run(Trigger::one_block_late, true);
  EXPECT_LT(times.second_begin, times.first_end);
  EXPECT_GT(times.second_begin + 10500, times.first_end);  // it triggers 10 us before its end
  EXPECT_EQ(times.seen_before_wait, 0u);
}

TEST(Dependents, StartAtTheEndOtherwise) {
  for (const bool programmatic : {false, true}) {
    const Trigger trigger = programmatic ? Trigger::never : Trigger::early;
    const DependentTimes times = run(trigger, programmatic);
    EXPECT_GE(times.second_begin, times.first_end);
    EXPECT_EQ(times.seen_before_wait, 203u);
  }
}

TEST(Dependents, TheStreamWaitsForBothKernels) {
  Managed<U32> data(4);
  Managed<DependentTimes> times(1);
  for (U32 i = 0; i < 4; ++i) data[i] = 0;
  run_dependents(Trigger::early, true, data.get(), times.get());
  U32 last = 0;
  ASSERT_EQ(cudaMemcpyAsync(&last, data.get() + 3, 4, cudaMemcpyDefault, nullptr), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(last, 103u);
}

TEST(Registers, AreTakenWhenOthersGiveThemUp) {
  Managed<std::uint64_t> clocks(3);
  run_register_pool(232, &clocks[0], &clocks[1]);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  // 384 threads have 168 each; 128 give up 128, and 256 take 64.
  EXPECT_GE(clocks[1], clocks[0]);
  EXPECT_GE(clocks[2], clocks[0]);
}

TEST(Registers, MoreThanThereAreNeverCome) {
  Managed<std::uint64_t> clocks(3);
  run_register_pool(240, &clocks[0], &clocks[1]);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
}

}  // namespace
