// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "profiler/inject_options.h"

namespace warpmeter {

class ActivityCollector;
class LaunchCount;
class LaunchWatch;
class NvtxCollector;
class OverheadKeeper;
class ProfileWriter;
struct CuptiApi;
struct Ladder;
class Subscription;
struct DriverGate;

// The profiler inside one process: its collectors, and a thread that writes what they have into a
// shard, FOLDER/PID.profile.sqlite. Never destroyed: other threads may be in a callback of ours
// when the process ends. Nothing here throws, prints or handles signals; what goes wrong is written
// into FOLDER/PID.note, and the process goes on without us.
class Session {
 public:
  static constexpr std::size_t nvtx_bytes = std::size_t{64} << 20;  // of ranges that wait

  // That of this process; null if there is none (not asked for, filtered out, or it has failed).
  // Made at the first call in a process, also in a forked child that gets here.
  static Session* current() noexcept;

  // The same, but never made: null in a forked child that has not come to current().
  static Session* existing() noexcept;

  // CUDA is being initialized in this process: by the thread that does it.
  void cuda_starts() noexcept;

  // NVTX is about to call us in any thread: ranges are kept from here on.
  void nvtx_starts() noexcept;

  // The process ends: flushes, waits for the writer for a bounded time.
  void finish() noexcept;

 private:
  explicit Session(InjectOptions options);
  void run() noexcept;
  void write();
  void tick();
  void open_store();
  void learn_devices();
  void follow_control_file();
  void arm(bool on);
  void set_collecting(bool on);  // those that are not shed
  void on_awaited_range() noexcept;
  void refuse(const std::string& collector, const std::string& why);
  void put_provenance();
  // Makes a collector if it was asked for; what it refuses is noted.
  void add(const std::string& name, const std::function<std::unique_ptr<Collector>()>& make);
  void make_collectors();  // those whose time has come
  void add_nvtx();
  void add_device_collectors(const DriverGate& driver);
  void make_watch();
  void start_watch();
  void refuse_watched(const std::string& why);
  void add_watched_collectors(const Ladder& ladder);
  void answer_range();
  bool starts_armed() const { return options_.armed && options_.wait_for_range.empty(); }
  void drain();

  // session_overhead.cpp
  void keep_overhead();
  void open_window();
  void pause_collecting(bool pause);
  void lose_pause();
  void abandon_round(const std::string& why);
  void shed(const std::string& name);
  std::set<std::string> present() const;
  void lose(const std::string& collector, std::int64_t from_ns, std::optional<std::int64_t> to_ns,
            const std::string& why);
  void count_launches(bool on) noexcept;
  std::chrono::nanoseconds patience(std::chrono::nanoseconds period) const;  // until the next turn
  Json describe_overhead() const;

  const InjectOptions options_;

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  bool stop_ = false, finished_ = false, cuda_came_ = false;
  bool range_came_ = false, range_answered_ = false;  // the one that is waited for
  std::atomic<bool> cuda_{false};                     // CUPTI is open
  std::atomic<bool> nvtx_{false};                     // NVTX calls us

  // The thread that starts CUDA makes these, before cuda_ is set; then the writer owns them.
  std::unique_ptr<CuptiApi> cupti_;
  std::unique_ptr<Subscription> subscription_;
  std::unique_ptr<LaunchWatch> watch_;  // null if nothing needs it, or it was refused
  std::unique_ptr<LaunchCount> launch_count_;
  std::unique_ptr<ActivityCollector> timeline_;
  std::string cupti_path_;

  // The writer's.
  std::unique_ptr<ProfileWriter> store_;
  std::vector<std::unique_ptr<Collector>> collectors_;  // beside the timeline
  std::unique_ptr<OverheadKeeper> keeper_;
  std::set<std::string> shed_;        // collectors that collect no more
  std::int64_t paused_since_ns_ = 0;  // in an unarmed window; 0: not
  Target target_;
  bool armed_ = false, devices_known_ = false, nvtx_known_ = false;
  bool was_armed_ = false;         // at least once
  std::int64_t disarm_at_ns_ = 0;  // 0: never, or done
  std::string control_;
  std::mutex refused_mutex_;
  Json refused_ = Json::object();
  Json ladder_;
};

// One line into FOLDER/PID.note; never throws.
void leave_note(const std::filesystem::path& folder, const std::string& line) noexcept;

}  // namespace warpmeter
