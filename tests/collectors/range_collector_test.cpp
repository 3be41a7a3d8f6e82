// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/range_collector.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "fake_ranges.h"
#include "row_list.h"

namespace warpmeter {
namespace {

constexpr std::int64_t second = 1'000'000'000;

// A process on the simulated device, whose clock goes on as the test says.
class Process {
 public:
  explicit Process(
      CounterPlan plan = small_plan({{"sm__A.sum", "dram__D.sum"}, {"sm__B.sum"}, {"sm__C.sum"}}),
      RangeOptions options = {}, unsigned seed = 1)
      : fake(seed), api(fake.api()), collector(target(), {std::move(plan)}, options, driver()) {
    for (const char* name : {"k", "other"})
      fake.kernels[name] = {{"sm__A.sum", 600}, {"sm__B.sum", 30},     {"sm__C.sum", 2e9},
                            {"dram__D.sum", 7}, {cycles_counter, 1e6}, {instructions_counter, 512}};
    launch.kernel = "k";
    launch.function = &fake;
    launch.context = reinterpret_cast<CUcontext>(0x10);
    launch.grid = {4, 1, 1};
    collector.arm();
  }

  void run(int times = 1) {
    for (int i = 0; i < times; ++i) {
      now += second;
      collector.before_launch(launch);
      fake.launch(std::string(launch.kernel));
      collector.after_launch(launch);
    }
  }

  RowList rows() {
    RowList list;
    collector.drain(list);
    return list;
  }

  int ranges() const {
    return static_cast<int>(std::count(fake.log.begin(), fake.log.end(), "Push"));
  }
  Json launches() const { return collector.describe()["launches"]; }

  FakeRanges fake;
  CuptiApi api;
  Target process;
  std::atomic<std::int64_t> now{0};
  std::atomic<bool> idle{true}, done{true};
  std::atomic<std::int64_t> poll_ns{0};  // that each question to the driver takes
  RangeCollector collector;
  LaunchInfo launch;

 private:
  const Target& target() {
    process.cupti = &api;
    process.process_id = 5;
    process.devices.push_back({9, "Planted GPU", "GPU-1", "GH100", 9, 0, 132});
    return process;
  }
  DriverView driver() {
    return {[this](CUcontext) {
              now += poll_ns;
              return idle.load();
            },
            [this](const LaunchInfo&) {
              now += poll_ns;
              return done.load();
            },
            [this] { return now.load(); }};
  }
};

TEST(RangeCollector, PutsTheGroupsOfOneShapeTogether) {
  Process p;
  p.run(1 + 3 * 10);
  const RowList rows = p.rows();  // the shape is done: its rows come while armed
  ASSERT_EQ(rows.counters.size(), 6u);
  const std::map<std::string, double> planted = {{"a", 600}, {"b", 30},     {"c", 2},
                                                 {"d", 7},   {"ratio", 20}, {"same", 600. / 7}};
  for (const RowList::Counter& row : rows.counters) {
    EXPECT_DOUBLE_EQ(row.value.value(), planted.at(row.metric)) << row.metric;
    EXPECT_EQ(row.shape.grid[0], 4);
    EXPECT_EQ(row.kernel, "k");
    EXPECT_EQ(row.row.device_id, 9);
    EXPECT_FALSE(row.row.kernel_id);
    EXPECT_EQ(row.row.passes, row.metric == "ratio" ? 20 : 10);
    EXPECT_EQ(row.row.level, 0.9);
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
  for (const auto& row : p.rows().counters)
    EXPECT_EQ(row.row.passes, row.metric == "ratio" ? 8 : 4);
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
      covered += *row.row.low <= truth && truth <= *row.row.high;
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
  const RowList rows = p.rows();
  ASSERT_EQ(rows.counters.size(), 6u);
  for (const auto& row : rows.counters) {
    EXPECT_EQ(row.verdict, "unstable");
    EXPECT_EQ(row.reason.find("elapsed cycles vary by "), 0u) << row.reason;
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
  const RowList rows = p.rows();
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
  const RowList rows = p.rows();
  ASSERT_FALSE(rows.counters.empty());
  EXPECT_EQ(rows.counters[0].kernel, "graph 7");
  EXPECT_EQ(rows.counters[0].row.passes, 2);
}

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
  const RowList rows = p.rows();
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
    EXPECT_NE(row.reason.find("it takes 2 passes of one launch"), std::string::npos) << row.reason;
  }
}

TEST(RangeCollector, StopsInAContextThatCuptiRefuses) {
  for (const int error : {26, 27, 35}) {
    Process p;
    p.fake.errors["Enable"] = static_cast<CUptiResult>(error);
    p.run(5);
    EXPECT_EQ(std::count(p.fake.log.begin(), p.fake.log.end(), "Enable"), 1);
    EXPECT_EQ(p.launches()["no_counters"], 3);
    const RowList rows = p.rows();
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
  const RowList rows = p.rows();
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
  const RowList rows = p.rows();
  EXPECT_EQ(std::count(rows.images.begin(), rows.images.end(), "config"), 2);
  EXPECT_EQ(std::count(rows.images.begin(), rows.images.end(), "counter_data"), 4);
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
