// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "collectors/activity_collector.h"
#include "collectors/clock.h"
#include "collectors/cupti_library.h"
#include "collectors/launch_count.h"
#include "collectors/launch_watch.h"
#include "collectors/nvtx_collector.h"
#include "core/error.h"
#include "profiler/overhead_keeper.h"
#include "profiler/process_facts.h"
#include "profiler/profile_writer.h"

namespace warpmeter {
namespace {

constexpr std::chrono::milliseconds period{100};
constexpr std::chrono::seconds patience_at_exit{20}, patience_at_range{2};

struct Slot {
  std::mutex mutex;
  std::atomic<Session*> session{nullptr};
  std::atomic<pid_t> pid{0};  // whose `session` is; 0 before the first
};

Slot& slot() {
  static Slot& one = *new Slot;  // outlives all
  return one;
}

// The child has one thread, and copies of our objects that nobody may use: a lock may be held for
// ever, and the shard is the parent's. What it makes from here on is its own.
void forget_in_child() { new (&slot()) Slot; }

bool is_there(const std::filesystem::path& shard) {
  return std::filesystem::exists(shard) || std::filesystem::exists(shard.string() + ".partial");
}

bool excluded(const InjectOptions& options) {
  return !options.only.empty() && command_line().find(options.only) == std::string::npos;
}

}  // namespace

void leave_note(const std::filesystem::path& folder, const std::string& line) noexcept {
  const std::string file = fmt::format("{}/{}.note", folder.string(), ::getpid());
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return;
  const std::string text = line + "\n";
  [[maybe_unused]] const auto written = ::write(descriptor, text.data(), text.size());
  ::close(descriptor);
}

Session* Session::current() noexcept {
  Slot& here = slot();
  if (here.pid.load() == ::getpid()) return here.session.load();
  const std::lock_guard lock(here.mutex);
  if (here.pid.load() == ::getpid()) return here.session.load();
  here.session = nullptr;
  const char* text = std::getenv(InjectOptions::variable);
  if (text != nullptr) {
    std::filesystem::path folder;
    try {
      const InjectOptions options = read_inject_options(text);
      folder = options.folder;
      if (!excluded(options)) {
        // Once, for children of children too: they inherit it.
        [[maybe_unused]] static const int registered =
            ::pthread_atfork(nullptr, nullptr, forget_in_child);
        here.session = new Session(options);
      }
    } catch (const std::exception& error) {
      if (!folder.empty()) leave_note(folder, error.what());
    }
  }
  here.pid = ::getpid();
  return here.session.load();
}

Session* Session::existing() noexcept {
  Slot& here = slot();
  return here.pid.load() == ::getpid() ? here.session.load() : nullptr;
}

Session::Session(InjectOptions options) : options_(std::move(options)) {
  // Signals are the program's business.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this] { run(); }).detach();
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Session::refuse(const std::string& collector, const std::string& why) {
  const std::lock_guard lock(refused_mutex_);
  refused_[collector] = why;
}

void Session::cuda_starts() noexcept {
  if (cuda_.load() || !options_.collects("timeline")) return;
  try {
    const SharedLibrary library = open_cupti(cupti_path_);
    cupti_ = std::make_unique<CuptiApi>(bind_cupti(library, cupti_path_));
    subscription_ = std::make_unique<Subscription>(*cupti_);
    make_watch();
    launch_count_ = std::make_unique<LaunchCount>(*subscription_);
    ActivityOptions activity;
    activity.memory_bytes = options_.memory_bytes;
    timeline_ = std::make_unique<ActivityCollector>(*cupti_, *subscription_, activity);
    start_watch();
    // At once, not by the writer: nothing of the program may be missed.
    if (starts_armed()) timeline_->arm();
    cuda_ = true;
    const std::lock_guard lock(mutex_);
    cuda_came_ = true;  // no need to wait for the next turn
    wake_.notify_all();
  } catch (const std::exception& error) {
    refuse("timeline", error.what());
    leave_note(options_.folder, error.what());
  }
}

void Session::nvtx_starts() noexcept {
  if (nvtx_.load() || !options_.collects("nvtx")) return;
  NvtxRecorder& recorder = NvtxRecorder::instance();
  if (!options_.wait_for_range.empty())
    recorder.on_range(options_.wait_for_range, [this] { on_awaited_range(); });
  if (starts_armed()) recorder.arm(nvtx_bytes);
  nvtx_ = true;
}

// In a thread of the program, which goes on when all collect, or after a while without them.
void Session::on_awaited_range() noexcept {
  std::unique_lock lock(mutex_);
  range_came_ = true;
  wake_.notify_all();
  done_.wait_for(lock, patience_at_range, [this] { return range_answered_; });
}

void Session::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "warpmeter");
  try {
    write();
  } catch (const std::exception& error) {
    leave_note(options_.folder, error.what());
  } catch (...) {
    leave_note(options_.folder, "the profiler ended by an unknown error");
  }
  const std::lock_guard lock(mutex_);
  finished_ = true;
  done_.notify_all();
}

void Session::open_store() {
  // A process that runs another program keeps its pid.
  std::filesystem::path shard;
  for (int image = 1; image == 1 || is_there(shard); ++image) {
    const std::string number = image == 1 ? "" : fmt::format("-{}", image);
    shard = options_.folder / fmt::format("{}{}.profile.sqlite", ::getpid(), number);
  }
  store_ = std::make_unique<ProfileWriter>(shard, shard_header());
  const ProcessFacts facts = process_facts();
  ProcessRow row;
  row.pid = ::getpid();
  row.parent_pid = ::getppid();
  row.command = facts.command;
  row.host = facts.host;
  row.boot_id = facts.boot_id;
  row.clock_offset_ns = 0;  // all times are CLOCK_MONOTONIC already
  target_.process_id = store_->add(row);
}

void Session::write() {
  open_store();
  arm(starts_armed());
  for (;;) {
    bool stop = false, range = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, patience(period), [this] { return stop_ || range_came_ || cuda_came_; });
      stop = stop_;
      range = std::exchange(range_came_, false);
      cuda_came_ = false;
    }
    if (range) answer_range();
    tick();
    if (stop) break;
  }
  abandon_round("the program ended");
  if (timeline_ && cuda_) timeline_->close();
  for (const auto& collector : collectors_) collector->disarm();
  drain();
  put_provenance();
  store_->finish();
}

void Session::make_collectors() {
  if (nvtx_ && !nvtx_known_) add_nvtx();
  if (cuda_ && !devices_known_) learn_devices();
}

void Session::tick() {
  make_collectors();
  follow_control_file();
  if (disarm_at_ns_ != 0 && monotonic_ns() >= disarm_at_ns_) {
    disarm_at_ns_ = 0;
    arm(false);
  }
  keep_overhead();
  drain();
  store_->flush();
}

void Session::answer_range() {
  make_collectors();
  arm(true);
  const std::lock_guard lock(mutex_);
  range_answered_ = true;
  done_.notify_all();
}

void Session::drain() {
  if (devices_known_) timeline_->drain(*store_);
  for (const auto& collector : collectors_) collector->drain(*store_);
}

void Session::put_provenance() {
  Json json = Json::object();
  json["options"] = to_json(options_);
  json["cupti"] = cupti_path_.empty() ? Json() : Json(cupti_path_);
  {
    const std::lock_guard lock(refused_mutex_);
    json["refused"] = refused_;
  }
  json["ladder"] = ladder_;
  json["overhead"] = describe_overhead();
  json["collectors"] = Json::object();
  if (timeline_ && cuda_) json["collectors"]["timeline"] = timeline_->describe();
  for (const auto& collector : collectors_)
    json["collectors"][std::string(collector->name())] = collector->describe();
  store_->set_provenance(json);
}

void Session::finish() noexcept {
  if (cuda_) timeline_->flush(true);
  std::unique_lock lock(mutex_);
  stop_ = true;
  wake_.notify_all();
  if (!done_.wait_for(lock, patience_at_exit, [this] { return finished_; }))
    leave_note(options_.folder, "the writer did not end in time; the shard is not complete");
}

}  // namespace warpmeter
