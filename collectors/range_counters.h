// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/combine.h"
#include "collectors/counter_plan.h"
#include "collectors/cupti_api.h"
#include "collectors/cupti_profiler_use.h"
#include "collectors/host_session.h"

namespace warpmeter {

// Counters that are collected together on one device, ready for its range profiler.
struct CounterGroup {
  std::vector<std::string> names;  // the planned ones, then invariants that cost no further pass
  std::size_t planned = 0;
  std::optional<std::size_t> cycles, instructions;  // where the invariants are in `names`
  CounterConfig config;
  std::shared_ptr<HostSession> host;       // evaluates
  std::vector<std::uint8_t> counter_data;  // the image of the last range
};

// What a range counted.
struct RangeValues {
  std::vector<double> planned;  // in CUPTI's units
  Invariants invariants;
};

// A kernel of ours that may be run as often as there are passes. Each call returns when it has
// enqueued its work; `synchronize` when all of it is done.
struct ReplayWork {
  std::function<void()> reinitialize;  // puts the inputs back
  std::function<void()> flush_l2;      // so that every pass finds the same L2
  std::function<void()> launch, synchronize;
};

// CUPTI's range profiler on one context. One thread at a time. Every function throws InputError,
// one line with the remedy, if CUPTI refuses.
class RangeProfiler {
 public:
  // Enables it.
  RangeProfiler(const CuptiApi& api, CUcontext context, const std::string& chip);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  // Adds each invariant if the profiler then needs no further pass.
  CounterGroup make_group(const std::vector<std::string>& names) const;

  // Around one launch. Between start and stop nothing else may run in the context.
  void configure(CounterGroup& group);
  void start(const std::string& range);
  bool stop();  // true: all passes are submitted

  // Of the range that was stopped; it stays in group.counter_data.
  RangeValues decode(CounterGroup& group) const;

  // Runs `work` pass by pass, group by group, `repeats` times: per pass the inputs are put back,
  // L2 is flushed, and only the launch is in the range. Values as of combine(), in which "launch"
  // is a replay of a group. Counters of several passes have parts of different replays.
  std::vector<MetricValue> replay(const CounterPlan& plan, const ReplayWork& work, int repeats = 1);

 private:
  const CuptiApi& api_;
  CuptiProfilerUse use_;
  CUcontext context_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

}  // namespace warpmeter
