// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <thread>

#include "core/error.h"
#include "fake_process.h"

namespace warpmeter {
namespace {

TEST(RangeCollector, KeepsToItsRate) {
  RangeOptions options;
  options.launches_per_second = 0.25;
  options.repeats = 1000;
  Process p(small_plan({{"sm__A.sum"}}), options);
  p.run(1 + 40);  // one a second
  EXPECT_NEAR(p.ranges(), 10, 1);
  EXPECT_GE(p.launches()["over_budget"], 29);
}

TEST(RangeCollector, KeepsToItsShareOfTime) {
  RangeOptions options;
  options.max_share = 0.05;
  options.repeats = 1000;
  Process p(small_plan({{"sm__A.sum"}}), options);
  p.poll_ns = second / 4;  // a measured launch is held up by half a second
  p.run(1 + 100);
  const double held = p.collector.describe()["held_up_s"];
  EXPECT_LE(held, 0.05 * static_cast<double>(p.now) * 1e-9 + 0.5);
  EXPECT_GE(p.ranges(), 5);
}

TEST(RangeCollector, SkipsABusyContext) {
  Process p;
  p.run();
  p.idle = false;
  p.poll_ns = 500'000;
  p.run();
  EXPECT_EQ(p.ranges(), 0);
  EXPECT_EQ(p.launches()["busy"], 1);
}

TEST(RangeCollector, UsesNoRangeThatOtherWorkWasIn) {
  Process p(small_plan({{"sm__A.sum"}}));
  p.run();
  p.now += second;
  p.collector.before_launch(p.launch);
  std::thread([&] {
    LaunchInfo other = p.launch;
    p.collector.before_launch(other);
    p.fake.launch("other");
    p.collector.after_launch(other);
  }).join();
  p.fake.launch("k");
  p.collector.after_launch(p.launch);
  p.now += second;
  p.collector.before_launch(p.launch);
  p.collector.other_work(0);
  p.collector.after_launch(p.launch);
  EXPECT_EQ(p.ranges(), 2);
  EXPECT_FALSE(p.launches().contains("measured"));
  p.collector.disarm();
  const KeptRows rows = p.rows();
  EXPECT_TRUE(rows.counters.empty());
  ASSERT_EQ(rows.losses.size(), 1u);
  EXPECT_EQ(rows.losses[0].count, 2);
}

// The runtime's call and the driver's call inside it are one launch.
TEST(RangeCollector, TakesNestedCallsForOneLaunch) {
  Process p(small_plan({{"sm__A.sum"}}));
  p.run();
  p.now += second;
  p.collector.before_launch(p.launch);
  p.run();
  EXPECT_EQ(std::count(p.fake.log.begin(), p.fake.log.end(), "Pop"), 0);
  p.collector.after_launch(p.launch);
  EXPECT_EQ(std::count(p.fake.log.begin(), p.fake.log.end(), "Pop"), 1);
  EXPECT_EQ(p.launches()["measured"], 1);
}

TEST(RangeCollector, SaysWhichMetricsNeedAReplay) {
  Process p(small_plan({{"sm__A.sum"}, {"sm__B.sum", "sm__C.sum", "x", "y", "dram__D.sum"}}));
  p.run(3);
  p.collector.disarm();
  for (const auto& row : p.rows().counters) {
    if (row.metric == "a") {
      EXPECT_EQ(*row.value, 600);
      continue;
    }
    EXPECT_FALSE(row.value);
    EXPECT_EQ(row.verdict, "unsupported");
    EXPECT_NE(row.reason.value().find("it takes 2 passes of one launch"), std::string::npos)
        << *row.reason;
  }
}

TEST(RangeCollector, StopsInAContextThatCuptiRefuses) {
  for (const int error : {26, 27, 35}) {
    Process p;
    p.fake.errors["Enable"] = static_cast<CUptiResult>(error);
    p.run(5);
    EXPECT_EQ(std::count(p.fake.log.begin(), p.fake.log.end(), "Enable"), 1);
    EXPECT_EQ(p.launches()["no_counters"], 3);
    const KeptRows rows = p.rows();
    ASSERT_EQ(rows.losses.size(), 1u);
    EXPECT_EQ(rows.losses[0].reason.find("range: cuptiRangeProfilerEnable: CUPTI_ERROR_"), 0u);
  }
}

TEST(RangeCollector, ClosesAContextWhoseDecodingFails) {
  Process p;
  p.fake.errors["Decode"] = CUPTI_ERROR_UNKNOWN;
  p.run(5);
  EXPECT_EQ(p.ranges(), 1);
  EXPECT_EQ(p.fake.log.back(), "launch k");
  EXPECT_EQ(std::count(p.fake.log.begin(), p.fake.log.end(), "Disable"), 1);
  EXPECT_EQ(p.rows().losses.size(), 1u);
}

// A kernel that does not end keeps neither the launching thread nor the process.
TEST(RangeCollector, GivesUpWhereALaunchDoesNotEnd) {
  Process p;
  p.run();
  p.done = false;
  p.poll_ns = second;
  p.run(5);
  EXPECT_TRUE(p.collector.given_up());
  EXPECT_EQ(p.ranges(), 1);
  EXPECT_EQ(std::count(p.fake.log.begin(), p.fake.log.end(), "Pop"), 0);
  p.collector.disarm();
  EXPECT_EQ(std::count(p.fake.log.begin(), p.fake.log.end(), "Disable"), 0);
  const KeptRows rows = p.rows();
  ASSERT_EQ(rows.losses.size(), 1u);
  EXPECT_EQ(rows.losses[0].what, "all further ranges");
  EXPECT_EQ(rows.losses[0].reason, "k made no progress for 5 s inside a range");
}

// A call of CUPTI that does not return is seen by the watchdog.
TEST(RangeCollector, GivesUpWhereCuptiHangs) {
  Process p;
  p.run();
  p.fake.hang_in_pop();
  std::thread stuck([&] { p.run(); });
  for (bool hanging = false; !hanging; std::this_thread::yield()) {
    const std::lock_guard lock(p.fake.mutex);
    hanging = p.fake.hanging;
  }
  EXPECT_FALSE(p.collector.given_up());
  p.now += 6 * second;
  while (!p.collector.given_up()) std::this_thread::yield();
  std::thread([&] {
    LaunchInfo other = p.launch;
    p.collector.before_launch(other);
    p.collector.after_launch(other);
  }).join();
  EXPECT_EQ(p.rows().losses.size(), 1u);
  p.fake.release();
  stuck.join();
  EXPECT_EQ(p.ranges(), 1);
}

TEST(RangeCollector, KeepsRawImagesUpToABound) {
  RangeOptions options;
  options.images = 4;
  Process p(small_plan({{"sm__A.sum"}, {"sm__B.sum"}}), options);
  p.run(21);
  const KeptRows rows = p.rows();
  EXPECT_EQ(rows.images_of("config"), 2u);
  EXPECT_EQ(rows.images_of("counter_data"), 4u);
}

TEST(RangeCollector, TellsShapesApartUpToABound) {
  RangeOptions options;
  options.shapes = 2;
  Process p(small_plan({{"sm__A.sum"}}), options);
  p.run();
  for (int i = 1; i <= 5; ++i) {
    p.launch.grid = {i, 1, 1};
    p.run();
  }
  EXPECT_EQ(p.ranges(), 2);
  p.collector.disarm();
  const KeptRows rows = p.rows();
  ASSERT_EQ(rows.losses.size(), 1u);
  EXPECT_EQ(rows.losses[0].count, 3);
  EXPECT_EQ(rows.losses[0].reason, "2 shapes were told apart before");
}

TEST(RangeCollector, EndsWithItsContext) {
  Process p;
  p.run(3);
  p.collector.context_destroyed(p.launch.context);
  EXPECT_EQ(p.fake.log.back(), "Disable");
  p.run(2);
  EXPECT_EQ(std::count(p.fake.log.begin(), p.fake.log.end(), "Enable"), 2);
}

TEST(RangeCollector, NeedsCupti) {
  const Target target;
  EXPECT_THROW(RangeCollector(target, {}, {}, {}), InputError);
}

}  // namespace
}  // namespace warpmeter
