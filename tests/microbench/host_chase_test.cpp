// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "kernels/host/add_chain.h"
#include "kernels/host/chase.h"

namespace warpmeter {
namespace {

constexpr std::size_t line_words = 8;  // 64 B

struct Cycle {
  Cycle(std::size_t lines, std::uint64_t seed) : memory(lines * line_words) {
    CycleBuilder builder(memory.data(), lines, 64, seed);
    for (std::size_t group = 0; group < builder.groups(); ++group) builder.link_group(group);
    marks = builder.join();
  }

  std::size_t line_of(const void* address) const {
    return static_cast<std::size_t>(static_cast<const std::uint64_t*>(address) - memory.data()) /
           line_words;
  }
  const void* next(const void* address) const {
    return memory.data() + line_words * ((read(address) - read_base()) / 64);
  }
  static std::uint64_t read(const void* address) {
    return *static_cast<const std::uint64_t*>(address);
  }
  std::uint64_t read_base() const { return reinterpret_cast<std::uint64_t>(memory.data()); }

  // The lines in the order of the links, from the first mark, as many hops as there are lines.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order;
    const void* at = marks.front().first;
    for (std::size_t i = 0; i < memory.size() / line_words; ++i, at = next(at))
      order.push_back(line_of(at));
    end = at;
    return order;
  }

  std::vector<std::uint64_t> memory;
  std::vector<CycleMark> marks;
  mutable const void* end = nullptr;
};

class CycleOf : public testing::TestWithParam<std::size_t> {};

TEST_P(CycleOf, VisitsEveryLineOnceAndReturns) {
  const std::size_t lines = GetParam();
  const Cycle cycle(lines, 7);
  std::vector<std::size_t> order = cycle.order();
  EXPECT_EQ(cycle.end, cycle.marks.front().first);
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> all(lines);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
}

TEST_P(CycleOf, HasMarksThatCoverIt) {
  const Cycle cycle(GetParam(), 8);
  const std::vector<std::size_t> order = cycle.order();
  std::size_t at = 0;
  for (const CycleMark& mark : cycle.marks) {
    ASSERT_LT(at, order.size());
    EXPECT_EQ(cycle.line_of(mark.first), order[at]);
    EXPECT_LE(mark.hops, CycleBuilder::mark_hops);
    at += mark.hops;
  }
  EXPECT_EQ(at, GetParam());
}

TEST_P(CycleOf, WalkSumsEveryAddress) {
  const Cycle cycle(GetParam(), 9);
  const CycleWalk walk = walk_cycle(cycle.marks, 0, cycle.marks.size());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < GetParam(); ++i) sum += cycle.read_base() + 64 * i;
  EXPECT_TRUE(walk.closed);
  EXPECT_EQ(walk.address_sum, sum);
}

INSTANTIATE_TEST_SUITE_P(Lines, CycleOf,
                         testing::Values(1, 2, 3, 64, 4095, 4097, 65536, 65537, 131073, 200000));

TEST(Cycle, WalkSeesAShortCut) {
  Cycle cycle(10000, 1);
  const std::vector<std::size_t> order = cycle.order();
  // Line 100 of the cycle skips its successor.
  cycle.memory[order[100] * line_words] = cycle.read_base() + 64 * order[102];
  EXPECT_FALSE(walk_cycle(cycle.marks, 0, cycle.marks.size()).closed);
}

TEST(Cycle, DiffersFromSeedToSeed) {
  EXPECT_NE(Cycle(1000, 1).order(), Cycle(1000, 2).order());
  EXPECT_EQ(Cycle(1000, 3).order(), Cycle(1000, 3).order());
}

// Neither a prefetcher's next line nor a constant stride: every distance is about as rare as in a
// random order, also where the cycle is made of several shuffles.
TEST(Cycle, HasNoFavouriteStride) {
  for (std::size_t lines : {4096UL, 300000UL}) {
    const std::vector<std::size_t> order = Cycle(lines, 5).order();
    std::vector<int> strides(2 * lines, 0);
    for (std::size_t i = 1; i < lines; ++i) ++strides[order[i] + lines - order[i - 1]];
    EXPECT_LT(*std::max_element(strides.begin(), strides.end()), 20);
    EXPECT_LT(strides[lines + 1] + strides[lines - 1], 20);  // next-line prefetchers
  }
}

TEST(Cycle, OfNothingIsRefused) {
  EXPECT_THROW(CycleBuilder(nullptr, 0, 64, 1), std::invalid_argument);
}

TEST(Chase, GoesThirtyTwoHopsPerRound) {
  const Cycle cycle(5000, 2);
  const void* expected = cycle.marks.front().first;
  for (std::size_t i = 0; i < 7 * 32; ++i) expected = cycle.next(expected);
  EXPECT_EQ(chase(cycle.marks.front().first, 7), expected);
}

TEST(ChaseChains, FollowsEachChain) {
  const Cycle cycle(200000, 3);
  for (std::size_t chains = 1; chains <= max_chains; ++chains) {
    std::vector<const void*> heads, expected;
    for (std::size_t i = 0; i < chains; ++i) {
      heads.push_back(cycle.marks[i].first);
      expected.push_back(heads.back());
      for (std::size_t hop = 0; hop < 100; ++hop) expected.back() = cycle.next(expected.back());
    }
    chase_chains(heads, 100);
    EXPECT_EQ(heads, expected) << chains;
  }
}

TEST(ChaseChains, OfNoneOrTooManyIsRefused) {
  std::vector<const void*> heads;
  EXPECT_THROW(chase_chains(heads, 1), std::invalid_argument);
  heads.resize(33);
  EXPECT_THROW(chase_chains(heads, 1), std::invalid_argument);
}

TEST(AddChain, AddsSixtyFourTimesPerRound) { EXPECT_EQ(add_chain(3, 5), 3U * 64 * 5); }

}  // namespace
}  // namespace warpmeter
