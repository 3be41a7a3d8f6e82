// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "collectors/pc_sampling.h"
#include "collectors/range_collector.h"

namespace warpmeter {

class Subscription;

// What the collectors of counters must know of the process that they are in: its contexts from the
// start of CUDA on, and, while ranges are armed, its launches. Never destroyed: callbacks may be in
// it. Callbacks come on the program's threads; nothing here makes another thread wait for longer
// than `patience`, and nothing touches a stream that is being captured, which would spoil the
// capture.
class LaunchWatch {
 public:
  static constexpr std::chrono::milliseconds patience{100};

  // Listens to contexts, streams, modules and captures; to be made before anything else is enabled.
  // Throws InputError: no libcuda.so.1, or CUPTI refuses.
  LaunchWatch(const CuptiApi& cupti, Subscription& subscription);

  // Is told of the contexts that are there, and of all that come, go or unload a module. It must
  // not be destroyed.
  void attach(PcCollector& collector);

  // Is told of each launch from here on; null: nobody is. It must not be destroyed. Throws
  // InputError.
  void watch_launches(RangeCollector* ranges);

  // idle: true only if every stream of the context that this thread can ask has no work
  // (cuStreamQuery, which waits for nothing), and nothing is being captured in the process.
  DriverView driver_view();

 private:
  // Of libcuda.so.1; numbers as in cuda.h.
  struct Functions {
    decltype(&::cuStreamQuery) stream_query = nullptr;
    decltype(&::cuStreamIsCapturing) stream_capturing = nullptr;
    decltype(&::cuFuncGetAttribute) function_attribute = nullptr;
    decltype(&::cuCtxGetCurrent) current_context = nullptr;
  };
  struct Function {
    std::optional<std::int64_t> shared_static, registers;
    std::optional<std::array<std::int64_t, 3>> cluster;  // that it was compiled for
  };
  struct Context {
    std::size_t device = 0;
    std::set<CUstream> streams;
    std::map<CUfunction, Function> functions;
  };
  using Lock = std::unique_lock<std::timed_mutex>;

  void called(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
  void resource(CUpti_CallbackId id, const CUpti_ResourceData& data);
  void api(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void capture(bool begins, const CUpti_CallbackData& data);
  void launch(CUpti_CallbackId id, const CUpti_CallbackData& data);
  LaunchInfo describe(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void add_function(LaunchInfo& info, CUfunction function);
  bool idle(CUcontext context);
  bool done(const LaunchInfo& launch);
  bool is_capturing(CUstream stream) const;
  Lock lock_for_a_while();

  const CuptiApi& cupti_;
  Subscription& subscription_;
  Functions driver_;

  std::mutex tell_mutex_;  // so that a collector is told of every context once; before mutex_
  PcCollector* pc_ = nullptr;

  std::atomic<RangeCollector*> ranges_{nullptr};
  std::atomic<bool> peer_mapped_{false};
  std::atomic<bool> lost_track_{false};  // a callback could not wait: nothing is idle any more

  std::timed_mutex mutex_;
  std::condition_variable_any range_ended_;
  std::map<CUcontext, Context> contexts_;
  int captures_ = 0;         // calls that begin one, in both domains, less those that end one
  bool range_open_ = false;  // captures wait for its end
  std::optional<std::thread::id> per_thread_;  // whose default stream of its own has had work
  bool per_thread_several_ = false;
};

// Range counters whose launches come from a watch, while they are armed.
class WatchedRanges : public RangeCollector {
 public:
  WatchedRanges(const Target& target, std::vector<CounterPlan> plans, const RangeOptions& options,
                LaunchWatch& watch)
      : RangeCollector(target, std::move(plans), options, watch.driver_view()), watch_(watch) {}

  void arm() override;
  void disarm() noexcept override;

 private:
  LaunchWatch& watch_;
};

}  // namespace warpmeter
