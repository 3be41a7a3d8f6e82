// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "microbench/host/hierarchy.h"
#include "tests/microbench/made_up_host.h"

namespace warpmeter {
namespace {

constexpr double kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

long between(const std::vector<double>& points, double lo, double hi) {
  return std::count_if(points.begin(), points.end(),
                       [=](double point) { return point >= lo && point <= hi; });
}

struct Sizes {
  double l1, l2, l3;  // B; l3 0: there is none
};

class SweepOf : public testing::TestWithParam<Sizes> {
 protected:
  Hierarchy hierarchy() const {
    return read_hierarchy(made_up_host(4, GetParam().l1, GetParam().l2, GetParam().l3));
  }
};

TEST_P(SweepOf, ChaseCoversEveryLevelAndItsKnee) {
  for (Effort effort : {Effort::standard, Effort::thorough}) {
    const std::vector<double> points = chase_footprints(hierarchy(), effort);
    EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
    EXPECT_EQ(std::adjacent_find(points.begin(), points.end()), points.end());
    EXPECT_EQ(points.front(), 4 * kib);
    EXPECT_EQ(points.back(), std::max(4 * hierarchy().caches.back().size, gib));
    double inner = 2 * kib;
    for (std::size_t level = 0; level < hierarchy().caches.size(); ++level) {
      const double size = hierarchy().caches[level].size;
      const long near = level < 2 ? 4 : 2;  // a shared level may be smaller than its size
      EXPECT_GE(between(points, 2 * inner, size * 0.8), 3) << "plateau of " << size;
      EXPECT_GE(between(points, size * 0.49, size * 1.01), near) << "below " << size;
      EXPECT_GE(between(points, size * 0.99, size * 2.01), near) << "above " << size;
      inner = size;
    }
    for (std::size_t i = 1; i < points.size(); ++i) EXPECT_LE(points[i], points[i - 1] * 2.3);
    EXPECT_GE(between(points, 2 * inner, 1e18), 3);  // DRAM
    for (double point : points) EXPECT_EQ(std::fmod(point, 64), 0);
  }
}

TEST_P(SweepOf, StreamsCoverEveryLevel) {
  for (int threads : {1, 2, 4}) {
    const double granule = 3 * 4096.0 * threads;
    const std::vector<double> points =
        stream_footprints(hierarchy(), threads, granule, Effort::standard);
    double inner = 0;
    for (std::size_t level = 0; level < hierarchy().caches.size(); ++level) {
      const double size = capacity(hierarchy(), level, threads);
      EXPECT_GE(between(points, inner * 1.5, size * 0.76), 2) << threads << " threads, " << size;
      inner = size;
    }
    EXPECT_GE(points.back() + granule, 4 * inner);
    for (double point : points) EXPECT_EQ(std::fmod(point, granule), 0);
    EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
  }
}

TEST_P(SweepOf, QuickIsSmall) {
  for (double point : chase_footprints(hierarchy(), Effort::quick)) EXPECT_LE(point, 16 * mib);
  EXPECT_LE(chase_footprints(hierarchy(), Effort::quick).size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Caches, SweepOf,
                         testing::Values(Sizes{48 * kib, 2 * mib, 260 * mib},
                                         Sizes{32 * kib, 256 * kib, 8 * mib},
                                         Sizes{48 * kib, 1.25 * mib, 54 * mib},
                                         Sizes{32 * kib, 1 * mib, 35.75 * mib},
                                         Sizes{128 * kib, 12 * mib, 0}));

TEST(Hierarchy, ReadsFacts) {
  const Hierarchy hierarchy = read_hierarchy(made_up_host(8, 48 * kib, 2 * mib, 36 * mib));
  EXPECT_EQ(hierarchy.cores, 8);
  ASSERT_EQ(hierarchy.caches.size(), 3U);
  EXPECT_EQ(hierarchy.caches[2].size, 36 * mib);
  EXPECT_EQ(hierarchy.caches[0].cores_on, 1);
  EXPECT_EQ(hierarchy.caches[2].cores_on, 8);
}

TEST(Hierarchy, CountsTwoThreadsOfACoreOnce) {
  Facts facts = made_up_host(8, 48 * kib, 2 * mib, 36 * mib);
  facts["cpu.threads"].value = 16;
  for (const char* cache : {"cache.l1d", "cache.l2"})
    facts[std::string(cache) + ".shared_by"].value = 2;
  facts["cache.l3.shared_by"].value = 16;
  EXPECT_EQ(read_hierarchy(facts).caches[0].cores_on, 1);
  EXPECT_EQ(read_hierarchy(facts).caches[2].cores_on, 8);
}

TEST(Hierarchy, OfNothingStillHasALine) {
  const Hierarchy hierarchy = read_hierarchy({});
  EXPECT_EQ(hierarchy.cores, 1);
  EXPECT_EQ(hierarchy.line, 64);
  EXPECT_FALSE(chase_footprints(hierarchy, Effort::standard).empty());
}

TEST(Capacity, GrowsWithTheInstancesInUse) {
  Facts facts = made_up_host(8, 32 * kib, 512 * kib, 32 * mib);
  facts["cache.l3.shared_by"].value = 4;  // two instances
  const Hierarchy hierarchy = read_hierarchy(facts);
  EXPECT_EQ(capacity(hierarchy, 0, 8), 256 * kib);
  EXPECT_EQ(last_level_capacity(hierarchy, 1), 32 * mib);
  EXPECT_EQ(last_level_capacity(hierarchy, 4), 32 * mib);
  EXPECT_EQ(last_level_capacity(hierarchy, 5), 64 * mib);
}

TEST(ThreadCounts, DoubleUpToAllCores) {
  Hierarchy hierarchy;
  hierarchy.cores = 12;
  EXPECT_EQ(thread_counts(hierarchy, Effort::standard), (std::vector<int>{1, 2, 4, 8, 12}));
  hierarchy.cores = 1;
  EXPECT_EQ(thread_counts(hierarchy, Effort::standard), (std::vector<int>{1}));
}

TEST(DramFootprint, IsFourTimesTheCacheOrWhatMemoryAllows) {
  Facts facts = made_up_host(2, 48 * kib, 2 * mib, 400 * mib);
  EXPECT_EQ(dram_footprint(read_hierarchy(facts), 2), 1600 * mib);
  facts["cache.l3.size"].value = 8 * mib;
  EXPECT_EQ(dram_footprint(read_hierarchy(facts), 2), gib);
  facts["memory.available"].value = 301 * mib;
  EXPECT_EQ(dram_footprint(read_hierarchy(facts), 2), 150 * mib);
}

TEST(Reasons, NameTheCauseAndAreNullWhereThereIsNone) {
  Facts facts = made_up_host(1, 48 * kib, 2 * mib, 260 * mib);
  EXPECT_EQ(threads_reason(facts, 1), std::nullopt);
  EXPECT_EQ(threads_reason(facts, 2), "one core only: needs 2");
  EXPECT_EQ(memory_reason(facts, gib), std::nullopt);
  facts["memory.available"].value = gib;
  EXPECT_EQ(memory_reason(facts, gib),
            "needs 1 GiB of memory; half of what is available is 512 MiB");
  EXPECT_EQ(residency_reason(facts, 520 * mib, 1), std::nullopt);
  EXPECT_NE(residency_reason(facts, 519 * mib, 1), std::nullopt);
  EXPECT_EQ(huge_pages_reason(facts), std::nullopt);
  facts["page.huge.transparent"].value = "always madvise [never]";
  EXPECT_NE(huge_pages_reason(facts), std::nullopt);
  facts.erase("page.huge.transparent");
  EXPECT_NE(huge_pages_reason(facts), std::nullopt);
}

TEST(RequireParameter, NamesWhatIsMissing) {
  EXPECT_EQ(require_parameter({{"threads", 2.0}}, "threads"), 2);
  EXPECT_THROW(require_parameter({{"threads", "two"}}, "threads"), InputError);
  EXPECT_THROW(require_parameter({}, "threads"), InputError);
}

}  // namespace
}  // namespace warpmeter
