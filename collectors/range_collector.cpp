// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/range_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/error.h"

namespace warpmeter {
namespace {

constexpr auto poll = std::chrono::microseconds(20);

// Calls around launches that this thread is in: the runtime's holds the driver's.
thread_local int depth = 0;

}  // namespace

RangeCollector::RangeCollector(const Target& target, std::vector<CounterPlan> plans,
                               RangeOptions options, DriverView driver)
    : target_(target), plans_(std::move(plans)), options_(options), driver_(std::move(driver)) {
  if (target_.cupti == nullptr)
    throw InputError("range: there is no CUPTI here; install that of CUDA 13.0");
}

RangeCollector::~RangeCollector() {
  disarm();
  // A range that never ended: to stop it could block as long as its kernel runs.
  static auto* const kept = new std::vector<std::unique_ptr<RangeProfiler>>;
  if (active_)
    for (auto& [context, state] : contexts_) kept->push_back(std::move(state.profiler));
}

RangeCollector::Key RangeCollector::key_of(const LaunchInfo& launch) {
  Key key;
  key.name = launch.graph ? fmt::format("graph {}", *launch.graph) : std::string(launch.kernel);
  key.device = launch.device;
  for (std::size_t i = 0; i < 3; ++i) {
    key.extent[i] = launch.grid[i];
    key.extent[3 + i] = launch.block[i];
    key.extent[6 + i] = launch.cluster[i];
  }
  key.memory = {launch.shared_static.value_or(-1), launch.shared_dynamic.value_or(-1),
                launch.registers.value_or(-1)};
  return key;
}

void RangeCollector::arm() {
  const std::lock_guard lock(mutex_);
  if (armed_) return;
  armed_ = watching_ = true;
  armed_ns_ = last_ns_ = driver_.now_ns();
  held_ns_ = 0;
  tokens_ = 1;
  watchdog_ = std::thread([this] { watch(); });
}

void RangeCollector::disarm() noexcept {
  {
    std::unique_lock lock(mutex_);
    if (!armed_) return;
    armed_ = false;
    changed_.wait(lock, [this] { return !active_ || given_up_; });
    watching_ = false;
    changed_.notify_all();
  }
  watchdog_.join();
  std::map<CUcontext, ContextState> closing;
  const std::lock_guard lock(mutex_);
  if (!active_) closing.swap(contexts_);
  finish_all();
}

// What is asked of every launch stands before what needs its name.
std::optional<RangeCollector::Key> RangeCollector::admit(const LaunchInfo& launch) {
  const auto skip = [this](const char* why) {
    ++counts_[why];
    return std::nullopt;
  };
  if (launch.device >= plans_.size()) return skip("other_device");
  if (launch.capturing) return skip("captured");
  ContextState& context = contexts_[launch.context];
  // Handles come back for other functions, so the name is part of what one is known by.
  Function& function = context.functions[launch.function];
  const std::size_t name = std::hash<std::string_view>()(launch.kernel) +
                           static_cast<std::size_t>(launch.graph.value_or(-1));
  const bool cold = !function.known || function.name != name;
  if (cold) function = {true, name, why_refused(launch)};
  if (const auto why =
          launch.cooperative || launch.peer_mapped ? why_refused(launch) : function.why) {
    ++refused_[{key_of(launch).name, *why}];
    return skip("refused");
  }
  if (cold) return skip("cold");
  if (!context.why.empty()) return skip("no_counters");
  if (!within_budget(driver_.now_ns())) return skip("over_budget");
  Key key = key_of(launch);
  const auto state = states_.find(key);
  if (state == states_.end() && states_.size() >= options_.shapes) return skip("further_shapes");
  if (state != states_.end() && state->second.complete) return skip("complete");
  return key;
}

// Tokens are spent where a range begins.
bool RangeCollector::within_budget(std::int64_t now) const {
  const double earned = static_cast<double>(now - last_ns_) * 1e-9 * options_.launches_per_second;
  if (tokens_ + earned < 1) return false;
  return static_cast<double>(held_ns_) <= options_.max_share * static_cast<double>(now - armed_ns_);
}

void RangeCollector::before_launch(const LaunchInfo& launch) noexcept try {
  if (++depth > 1 || given_up_) return;
  std::unique_lock lock(mutex_);
  if (!armed_) return;
  if (active_) {
    if (active_->launch.device == launch.device) active_->contaminated = true;
    return;
  }
  ++counts_["seen"];
  std::optional<Key> key = admit(launch);
  if (!key) return;
  Active& active = active_.emplace();
  active.key = std::move(*key);
  active.launch = launch;
  active.launch.kernel = {};
  active.launch.graph_kernels = {};
  active.thread = std::this_thread::get_id();
  active.context = &contexts_[launch.context];
  active.since_ns = active.progress_ns = driver_.now_ns();
  lock.unlock();
  begin(active);
} catch (const std::exception&) {
  // No memory: nothing is measured.
}

// While active_ is set, only its thread touches its context and its profiler; fields that others
// read are changed under the lock.
void RangeCollector::begin(Active& active) {
  std::string why;
  try {
    const std::int64_t until = active.since_ns + options_.idle_wait_ns;
    bool idle = driver_.idle(active.launch.context);
    while (!idle && driver_.now_ns() < until) {
      std::this_thread::sleep_for(poll);
      idle = driver_.idle(active.launch.context);
    }
    if (idle && open_context(active)) {
      CounterGroup& group = active.context->groups[active.group];
      progress(active);
      active.context->profiler->configure(group);
      progress(active);
      active.context->profiler->start(active.key.name);
      const std::lock_guard lock(mutex_);
      const std::int64_t now = driver_.now_ns();
      tokens_ = std::min(1.0, tokens_ + static_cast<double>(now - last_ns_) * 1e-9 *
                                            options_.launches_per_second) -
                1;
      last_ns_ = active.progress_ns = now;
      return;
    }
    if (!idle) why = "busy";
  } catch (const InputError& error) {
    close_context(active, error.what());
  }
  std::unique_lock lock(mutex_);
  if (!why.empty()) ++counts_[why];
  end_active(lock);
}

void RangeCollector::after_launch(const LaunchInfo&) noexcept try {
  if (--depth > 0 || given_up_) return;
  std::unique_lock lock(mutex_);
  if (!active_ || active_->thread != std::this_thread::get_id()) return;
  Active& active = *active_;
  active.progress_ns = driver_.now_ns();
  lock.unlock();
  finish(active);
} catch (const std::exception&) {
}

void RangeCollector::finish(Active& active) {
  try {
    const std::int64_t until = driver_.now_ns() + options_.give_up_ns;
    while (!driver_.done(active.launch)) {
      if (driver_.now_ns() >= until) give_up(active);
      if (given_up_) return;  // the launch goes on, its range stays open
      std::this_thread::sleep_for(poll);
    }
    progress(active);
    if (!active.context->profiler->stop())
      throw InputError("range: CUPTI wants more passes than it planned; use that of CUDA 13.0");
    progress(active);
    RangeValues values = active.context->profiler->decode(active.context->groups[active.group]);
    keep(active, std::move(values));
  } catch (const InputError& error) {
    close_context(active, error.what());
  }
  std::unique_lock lock(mutex_);
  end_active(lock);
}

void RangeCollector::progress(Active& active) {
  const std::lock_guard lock(mutex_);
  active.progress_ns = driver_.now_ns();
}

void RangeCollector::end_active(std::unique_lock<std::mutex>&) {
  held_ns_ += driver_.now_ns() - active_->since_ns;
  active_.reset();
  changed_.notify_all();
}

void RangeCollector::give_up(const Active& active) {
  const std::lock_guard lock(mutex_);
  if (given_up_.exchange(true)) return;
  losses_.push_back({"all further ranges",
                     fmt::format("{} made no progress for {:.3g} s inside a range", active.key.name,
                                 static_cast<double>(options_.give_up_ns) * 1e-9),
                     -1});
  changed_.notify_all();
}

// For calls of CUPTI that do not return.
void RangeCollector::watch() {
  std::unique_lock lock(mutex_);
  while (watching_) {
    changed_.wait_for(lock, std::chrono::milliseconds(20));
    if (!active_ || driver_.now_ns() - active_->progress_ns < options_.give_up_ns) continue;
    const Active copy = *active_;
    lock.unlock();
    give_up(copy);
    lock.lock();
  }
}

void RangeCollector::other_work(std::size_t device) noexcept {
  if (given_up_) return;
  const std::lock_guard lock(mutex_);
  if (active_ && active_->launch.device == device) active_->contaminated = true;
}

void RangeCollector::context_destroyed(CUcontext context) noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return !active_ || active_->launch.context != context || given_up_ ||
           active_->thread == std::this_thread::get_id();
  });
  if (active_ && active_->launch.context == context) return;
  const auto closing = contexts_.extract(context);
  lock.unlock();
}

}  // namespace warpmeter
