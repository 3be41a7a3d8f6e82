// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "collectors/range_collector.h"
#include "fake_ranges.h"
#include "kept_rows.h"

namespace warpmeter {

inline constexpr std::int64_t second = 1'000'000'000;

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

  KeptRows rows() {
    KeptRows list;
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

}  // namespace warpmeter
