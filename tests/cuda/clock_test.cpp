// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpmeter {
namespace {

// `cycles` and `ns` of a block on `sm`; clocks of SMs start anywhere, the timer is common.
Stamp stamp(std::uint32_t sm, std::uint64_t cycles, std::uint64_t begin_ns, std::uint64_t ns) {
  const std::uint64_t clock = 1'000'000'007ull * (sm + 1);
  return {clock, clock + cycles, begin_ns, begin_ns + ns, sm, 1};
}

TEST(ReadStamps, GivesTheClockOfEachSm) {
  // 1.5, 1.8 and 1.2 GHz on SMs 0, 2 and 7.
  const std::vector<Stamp> stamps = {stamp(0, 1'500'000, 5000, 1'000'000),
                                     stamp(2, 1'800'000, 5000, 1'000'000),
                                     stamp(7, 2'400'000, 6000, 2'000'000)};
  const auto reading = read_stamps(stamps);
  ASSERT_TRUE(reading);
  EXPECT_NEAR(reading->hz, 1.5e9, 1);
  EXPECT_NEAR(reading->lowest_hz, 1.2e9, 1);
  EXPECT_NEAR(reading->highest_hz, 1.8e9, 1);
  EXPECT_EQ(reading->sms, (std::vector<int>{0, 2, 7}));
  EXPECT_NEAR(reading->cycles, 1'800'000, 1e-6);
  EXPECT_NEAR(reading->seconds, 1e-3, 1e-12);
  EXPECT_NEAR(reading->span_s, 2.001e-3, 1e-12);
}

TEST(ReadStamps, TakesTheLongestBlockOfAnSm) {
  // The short block's time is rounded to the timer's step.
  const std::vector<Stamp> stamps = {stamp(3, 2'000'000, 0, 1'000'000),
                                     stamp(3, 100, 1'000'000, 32)};
  EXPECT_NEAR(read_stamps(stamps)->hz, 2e9, 1);
}

TEST(ReadStamps, IgnoresBlocksThatDidNotRun) {
  EXPECT_FALSE(read_stamps(std::vector<Stamp>(4)));
  EXPECT_FALSE(read_stamps({}));
  const std::vector<Stamp> stamps = {Stamp{}, stamp(1, 1'000'000, 0, 1'000'000)};
  EXPECT_EQ(read_stamps(stamps)->sms, std::vector<int>{1});
}

TEST(ReadStamps, OfNoMeasurableTimeIsUnknown) {
  const std::vector<Stamp> stamps = {stamp(1, 20, 64, 0)};
  EXPECT_FALSE(read_stamps(stamps));
}

}  // namespace
}  // namespace warpmeter
