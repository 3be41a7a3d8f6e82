// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fake_process.h"

namespace warpmeter {
namespace {

TEST(RangeCollector, PutsTheGroupsOfOneShapeTogether) {
  Process p;
  p.run(1 + 3 * 10);
  const KeptRows rows = p.rows();  // the shape is done: its rows come while armed
  ASSERT_EQ(rows.counters.size(), 6u);
  const std::map<std::string, double> planted = {{"a", 600}, {"b", 30},     {"c", 2},
                                                 {"d", 7},   {"ratio", 20}, {"same", 600. / 7}};
  for (const KeptRows::Counter& row : rows.counters) {
    EXPECT_DOUBLE_EQ(row.value.value(), planted.at(row.metric)) << row.metric;
    EXPECT_EQ(row.shape.grid[0], 4);
    EXPECT_EQ(row.kernel, "k");
    EXPECT_EQ(row.device_id, 9);
    EXPECT_FALSE(row.kernel_id);
    EXPECT_EQ(row.passes, row.metric == "ratio" ? 20 : 10);
    EXPECT_EQ(row.level, 0.9);
    EXPECT_EQ(row.source, "range");
    EXPECT_EQ(row.verdict, "ok");
  }
  EXPECT_EQ(rows.counters[2].unit, "s");
  EXPECT_EQ(rows.counters[3].scope, "device");
  EXPECT_EQ(p.ranges(), 30);
  p.run(5);
  EXPECT_EQ(p.ranges(), 30);
  EXPECT_EQ(p.launches()["complete"], 5);
  EXPECT_EQ(p.launches()["cold"], 1);
  p.collector.disarm();
  EXPECT_EQ(p.rows().counters.size(), 0u);
}

TEST(RangeCollector, GivesEveryGroupOnceARound) {
  Process p;
  p.run(1 + 3 * 4);
  p.collector.disarm();
  for (const auto& row : p.rows().counters) EXPECT_EQ(row.passes, row.metric == "ratio" ? 8 : 4);
}

TEST(RangeCollector, CoversWhatWasPlanted) {
  int covered = 0, trials = 0;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    Process p(small_plan({{"sm__A.sum"}, {"sm__B.sum"}}), {}, seed);
    p.fake.noise = 0.03;
    p.run(1 + 2 * 10);
    for (const auto& row : p.rows().counters) {
      if (row.metric != "ratio" && row.metric != "a") continue;
      const double truth = row.metric == "ratio" ? 20 : 600;
      covered += *row.low <= truth && truth <= *row.high;
      ++trials;
    }
  }
  ASSERT_EQ(trials, 300);
  EXPECT_GT(covered, 0.85 * trials);
  EXPECT_LT(covered, 0.95 * trials);
}

TEST(RangeCollector, KeepsShapesApartAndPoolsNothingElse) {
  Process p(small_plan({{"sm__A.sum"}}));
  p.run(2);
  p.launch.grid = {8, 1, 1};
  p.fake.kernels["k"]["sm__A.sum"] = 1200;
  p.run(2);
  p.launch.cluster = {2, 1, 1};
  p.fake.kernels["k"]["sm__A.sum"] = 1300;
  p.run(1);
  p.launch.shared_dynamic = 4096;
  p.fake.kernels["k"]["sm__A.sum"] = 1400;
  p.run(1);
  p.collector.disarm();
  std::multiset<double> values;
  for (const auto& row : p.rows().counters)
    if (row.metric == "a") values.insert(*row.value);
  EXPECT_EQ(values, (std::multiset<double>{600, 1200, 1300, 1400}));
}

TEST(RangeCollector, RejectsAnUnstableKernel) {
  Process p;
  p.fake.cycles_noise = 0.2;
  p.run(31);
  const KeptRows rows = p.rows();
  ASSERT_EQ(rows.counters.size(), 6u);
  for (const auto& row : rows.counters) {
    EXPECT_EQ(row.verdict, "unstable");
    EXPECT_EQ(row.reason.value().find("elapsed cycles vary by "), 0u) << *row.reason;
  }
}

TEST(RangeCollector, LeavesCaptureAndRefusedKernelsAlone) {
  Process p;
  p.fake.kernels["ncclDevKernel_AllReduce"] = p.fake.kernels["k"];
  p.run();
  p.launch.capturing = true;
  p.run(3);
  p.launch.capturing = false;
  p.launch.kernel = "ncclDevKernel_AllReduce";
  p.run(4);
  EXPECT_EQ(p.ranges(), 0);
  EXPECT_EQ(p.launches()["captured"], 3);
  p.collector.disarm();
  const KeptRows rows = p.rows();
  ASSERT_EQ(rows.losses.size(), 1u);
  EXPECT_EQ(rows.losses[0].what, "launches of ncclDevKernel_AllReduce");
  EXPECT_EQ(rows.losses[0].count, 4);
  EXPECT_EQ(rows.losses[0].reason, "a communication kernel waits for other GPUs");
}

TEST(RangeCollector, MeasuresAGraphOnlyAsAWhole) {
  Process p(small_plan({{"sm__A.sum"}}));
  const std::string_view nodes[] = {"gemm"};
  p.launch.graph = 7;
  p.launch.graph_kernels = nodes;
  p.run(3);
  p.collector.disarm();
  const KeptRows rows = p.rows();
  ASSERT_FALSE(rows.counters.empty());
  EXPECT_EQ(rows.counters[0].kernel, "graph 7");
  EXPECT_EQ(rows.counters[0].passes, 2);
}

}  // namespace
}  // namespace warpmeter
