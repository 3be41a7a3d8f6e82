// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/ring.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels/micro/fill.h"

namespace warpmeter {
namespace {

// The byte offsets in the order in which a chase from node 0 meets them, until it is back.
std::vector<std::uint64_t> walk_offsets(const Ring& ring) {
  std::vector<std::uint64_t> offsets;
  std::uint32_t at = 0;
  do {
    offsets.push_back(ring.offset[at] * link_unit);
    at = ring.next[at];
  } while (at != 0 && offsets.size() <= ring.size());
  return offsets;
}

TEST(RandomRing, MeetsEveryNodeOnce) {
  const auto offsets = walk_offsets(random_ring(64 * 64, 3));
  EXPECT_EQ(offsets.size(), 64u);
  EXPECT_EQ(std::set(offsets.begin(), offsets.end()).size(), 64u);
  for (const auto offset : offsets) EXPECT_EQ(offset % 64, 0u);
}

TEST(SparseRing, HasOneNodeIn512BytesInAnySector) {
  const auto offsets = walk_offsets(sparse_ring(1000 * 512, 3));
  ASSERT_EQ(offsets.size(), 1000u);
  std::set<std::uint64_t> blocks, sectors;
  for (const auto offset : offsets) {
    EXPECT_EQ(offset % 32, 0u);
    blocks.insert(offset / 512);
    sectors.insert(offset % 512 / 32);
  }
  EXPECT_EQ(blocks.size(), 1000u);
  EXPECT_EQ(*blocks.rbegin(), 999u);
  EXPECT_EQ(sectors.size(), 16u);
}

TEST(PairRing, VisitsTheSecondNodeRightAfterTheFirst) {
  const auto offsets = walk_offsets(pair_ring(256 * 50, 32, 3));
  ASSERT_EQ(offsets.size(), 100u);
  std::set<std::uint64_t> firsts;
  for (std::size_t i = 0; i < offsets.size(); i += 2) {
    EXPECT_EQ(offsets[i] % 256, 0u);
    EXPECT_EQ(offsets[i + 1], offsets[i] + 32);
    firsts.insert(offsets[i]);
  }
  EXPECT_EQ(firsts.size(), 50u);
}

TEST(PagedRing, EndsAPageBeforeTheNext) {
  const auto offsets = walk_offsets(paged_ring(3u << 21, 3));
  int changes = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    changes += offsets[i] >> 21 != offsets[i - 1] >> 21;
  EXPECT_EQ(offsets.size(), std::size_t{3u << 21} / 64);
  EXPECT_LE(changes, 3);
}

}  // namespace
}  // namespace warpmeter
