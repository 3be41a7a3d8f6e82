// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counter_plan.h"
#include "collectors/launch.h"
#include "collectors/range_counters.h"

namespace warpmeter {

struct RangeOptions {
  double launches_per_second = 20;          // measured ones, at most
  double max_share = 0.02;                  // of the time since arm() in which launches are held up
  std::int64_t idle_wait_ns = 2'000'000;    // how long a launch may wait for an idle context
  std::int64_t give_up_ns = 5'000'000'000;  // without progress of a measured launch
  std::size_t repeats = 10;                 // of each pass, then the shape is done
  std::size_t shapes = 4096;                // that are told apart, at most
  std::size_t images = 16;                  // raw counter-data images that are kept, at most
};

// What the collector needs of the driver and of time.
struct DriverView {
  std::function<bool(CUcontext)> idle;          // all work of the context is done
  std::function<bool(const LaunchInfo&)> done;  // that of the launch's stream is
  std::function<std::int64_t()> now_ns;         // CLOCK_MONOTONIC
};

// Range counters of a process that is not ours: no launch is ever run twice. Each launch that is
// measured counts one pass group; launches of the same kernel in the same shape take the groups in
// turn, in a new random order each round, so that a program which alternates between two kinds of
// work does not give one kind to one group. Measured are only launches that why_refused() lets
// through, outside stream capture, not the first of a function, in an idle context, within the
// rate and the share of time of the options. Other launches are never blocked: what shares a
// measured range is not used. Where a measured launch or a call of CUPTI makes no progress, no
// range is begun any more; then the object must not be destroyed while threads may be in it.
class RangeCollector : public Collector {
 public:
  // One plan per device of the target.
  RangeCollector(const Target& target, std::vector<CounterPlan> plans, RangeOptions options,
                 DriverView driver);
  ~RangeCollector() override;

  std::string_view name() const override { return "range"; }
  void arm() override;
  void disarm() noexcept override;
  std::size_t drain(RowSink& sink) override;
  Json describe() const override;

  // Around every API call that launches, from its callback, any thread. Calls nest.
  void before_launch(const LaunchInfo& launch) noexcept;
  void after_launch(const LaunchInfo& launch) noexcept;
  // Something else is enqueued on this device: a copy, a set.
  void other_work(std::size_t device) noexcept;
  // The context is about to go.
  void context_destroyed(CUcontext context) noexcept;

  bool given_up() const { return given_up_.load(); }

 private:
  struct Key {
    std::string name;  // "graph 7" for a graph as a whole
    std::size_t device;
    std::array<std::int64_t, 9> extent;
    std::array<std::int64_t, 3> memory;  // shared_static, shared_dynamic, registers; -1: not known
    auto operator<=>(const Key&) const = default;
  };
  struct State {
    explicit State(const CounterPlan& plan, std::size_t seed) : samples(plan), random(seed) {}
    PassSamples samples;
    std::minstd_rand random;
    std::vector<std::size_t> turn;  // groups left in this round
    bool complete = false;
  };
  struct Function {
    bool known = false;
    std::size_t name = 0;                 // its hash
    std::optional<std::string_view> why;  // its name, or a graph, is refused
  };
  struct ContextState {
    std::unique_ptr<RangeProfiler> profiler;
    std::vector<CounterGroup> groups;
    std::vector<std::size_t> usable;                      // groups of one pass
    std::string why;                                      // no counters here
    std::unordered_map<const void*, Function> functions;  // that were launched before
  };
  struct Active {
    Key key;
    LaunchInfo launch;  // without views
    std::thread::id thread;
    ContextState* context = nullptr;
    std::size_t group = 0;
    std::int64_t since_ns = 0, progress_ns = 0;
    bool contaminated = false;
  };
  struct Finished {
    Key key;
    CounterPlan plan;
    PassSamples samples;
  };
  struct Image {
    std::size_t device;
    const char* kind;
    std::vector<std::uint8_t> data;
  };
  struct Loss {
    std::string what, reason;
    std::int64_t count;
  };

  static Key key_of(const LaunchInfo& launch);
  std::optional<Key> admit(const LaunchInfo& launch);
  bool within_budget(std::int64_t now) const;
  bool open_context(Active& active);
  void begin(Active& active);
  void finish(Active& active);
  void keep(Active& active, RangeValues values);
  void close_context(Active& active, const std::string& why);
  void end_active(std::unique_lock<std::mutex>& lock);
  void give_up(const Active& active);
  void progress(Active& active);
  void watch();
  void finish_all();

  const Target& target_;
  std::vector<CounterPlan> plans_;
  RangeOptions options_;
  DriverView driver_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool armed_ = false, watching_ = false;
  std::atomic<bool> given_up_{false};
  std::optional<Active> active_;
  std::map<CUcontext, ContextState> contexts_;
  std::map<Key, State> states_;
  std::map<std::pair<std::string, std::string_view>, std::int64_t> refused_;  // kernel, reason
  std::map<std::string, std::int64_t> counts_;                                // for describe()
  std::vector<Finished> finished_;
  std::vector<Image> images_;
  std::vector<Loss> losses_;
  std::size_t kept_images_ = 0;
  std::set<std::size_t> described_devices_;  // whose config images are kept
  std::int64_t armed_ns_ = 0, held_ns_ = 0, last_ns_ = 0;
  double tokens_ = 1;
  std::thread watchdog_;
};

}  // namespace warpmeter
