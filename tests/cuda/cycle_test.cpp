// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/cycle.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpmeter {
namespace {

// The number of different elements met before the walk from 0 returns to 0.
std::uint32_t length_of_cycle(const std::vector<std::uint32_t>& next) {
  std::uint32_t length = 1;
  for (std::uint32_t at = next[0]; at != 0 && length <= next.size(); at = next[at]) ++length;
  return length;
}

TEST(RandomCycle, VisitsEveryElementOnce) {
  for (const std::uint32_t count : {1u, 2u, 3u, 32u, 1000u}) {
    EXPECT_EQ(length_of_cycle(random_cycle(count, 5)), count);
  }
}

TEST(RandomCycle, IsNotSequential) {
  const auto next = random_cycle(10000, 5);
  int neighbours = 0;
  for (std::uint32_t i = 0; i + 1 < next.size(); ++i) neighbours += next[i] == i + 1;
  EXPECT_LT(neighbours, 10);  // one is expected of a random cycle
}

TEST(RandomCycle, DependsOnTheSeedAlone) {
  EXPECT_EQ(random_cycle(1000, 5), random_cycle(1000, 5));
  EXPECT_NE(random_cycle(1000, 5), random_cycle(1000, 6));
}

TEST(GroupedCycle, FinishesOneGroupBeforeTheNext) {
  const auto next = grouped_cycle(100, 16, 5);  // the last group is shorter
  EXPECT_EQ(length_of_cycle(next), 100u);
  int changes = 0;
  for (std::uint32_t i = 0; i < next.size(); ++i) changes += next[i] / 16 != i / 16;
  EXPECT_EQ(changes, 7);
}

TEST(GroupedCycle, IsRandomInsideAGroup) {
  const auto next = grouped_cycle(4096, 1024, 5);
  int neighbours = 0;
  for (std::uint32_t i = 0; i + 1 < next.size(); ++i) neighbours += next[i] == i + 1;
  EXPECT_LT(neighbours, 20);
}

TEST(Walk, FollowsSuccessors) {
  const std::vector<std::uint32_t> next = {2, 0, 3, 1};
  EXPECT_EQ(walk(next, 0, 0), 0u);
  EXPECT_EQ(walk(next, 0, 3), 1u);
  EXPECT_EQ(walk(next, 3, 6), 0u);
}

}  // namespace
}  // namespace warpmeter
