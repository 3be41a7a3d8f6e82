// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The part of Session that measures what it costs, and keeps to the budget: docs/overhead.md.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "collectors/activity_collector.h"
#include "collectors/clock.h"
#include "collectors/launch_count.h"
#include "core/error.h"
#include "profiler/overhead_keeper.h"
#include "profiler/profile_writer.h"
#include "profiler/session.h"

namespace warpmeter {

std::set<std::string> Session::present() const {
  std::set<std::string> names;
  const auto look = [&](const Collector& collector) {
    const std::string name(collector.name());
    if (!shed_.contains(name)) names.insert(name);
  };
  if (timeline_) look(*timeline_);
  for (const auto& collector : collectors_) look(*collector);
  if (names.contains("timeline") && !shed_.contains("calls")) names.insert("calls");
  return names;
}

void Session::lose(const std::string& collector, std::int64_t from_ns,
                   std::optional<std::int64_t> to_ns, const std::string& why) {
  LossRow loss;
  loss.process_id = target_.process_id;
  loss.collector =
      collector == "calls" ? std::string_view("timeline") : std::string_view(collector);
  loss.what = collector == "calls" ? "api" : "all";
  loss.from_ns = from_ns;
  loss.to_ns = to_ns;
  loss.reason = why;
  store_->add(loss);
}

// What was missed since the collectors were paused, one row for each.
void Session::lose_pause() {
  if (paused_since_ns_ == 0) return;
  const std::int64_t since = std::exchange(paused_since_ns_, 0), now = monotonic_ns();
  std::set<std::string> missed = present();
  missed.erase("calls");  // are the timeline's
  for (const std::string& name : missed) lose(name, since, now, "unarmed to measure overhead");
}

// All collectors at once, within a round.
void Session::pause_collecting(bool pause) {
  if (pause == (paused_since_ns_ != 0)) return;
  if (pause) paused_since_ns_ = monotonic_ns();
  set_collecting(!pause);
  if (pause)
    drain();  // not in the window that follows
  else
    lose_pause();
}

void Session::open_window() {
  pause_collecting(!keeper_->next_armed());
  keeper_->open(monotonic_ns(), launch_count_->value());
}

void Session::keep_overhead() {
  if (options_.overhead_budget <= 0 || !cuda_ || !devices_known_) return;
  if (!keeper_)
    keeper_ = std::make_unique<OverheadKeeper>(options_.overhead_budget, options_.rounds);
  if (!keeper_->running()) {
    if (!armed_ || !keeper_->begins(monotonic_ns(), timeline_->kernels())) return;
    try {
      launch_count_->enable(true);
    } catch (const InputError& error) {
      return keeper_->abandon(monotonic_ns(), error.what());
    }
    return open_window();
  }
  if (!keeper_->over(monotonic_ns())) return;
  drain();  // belongs to what an armed window costs
  keeper_->close(monotonic_ns(), launch_count_->value());
  if (!keeper_->complete()) return open_window();
  pause_collecting(false);
  count_launches(false);
  if (const auto name = keeper_->end(monotonic_ns(), present())) shed(*name);
  put_provenance();
}

void Session::shed(const std::string& name) {
  lose(name, monotonic_ns(), std::nullopt, "shed: " + keeper_->last_finding());
  shed_.insert(name);
  if (name == "calls") timeline_->shed_calls();
  if (name == "timeline") timeline_->disarm();
  for (const auto& collector : collectors_)
    if (collector->name() == name) collector->disarm();
}

void Session::count_launches(bool on) noexcept {
  try {
    launch_count_->enable(on);
  } catch (const std::exception&) {  // it counts on, at its small cost
  }
}

// The caller disarms next, or the process ends: nothing is armed again here.
void Session::abandon_round(const std::string& why) {
  if (!keeper_ || !keeper_->running()) return;
  keeper_->abandon(monotonic_ns(), why);
  lose_pause();
  count_launches(false);
}

std::chrono::nanoseconds Session::patience(std::chrono::nanoseconds period) const {
  if (!keeper_ || !keeper_->running()) return period;
  const std::chrono::nanoseconds left{keeper_->until_ns() - monotonic_ns()};
  return std::clamp(left, std::chrono::nanoseconds{0}, period);
}

Json Session::describe_overhead() const {
  const OverheadKeeper none(options_.overhead_budget, options_.rounds);
  Json json = (keeper_ ? *keeper_ : none).describe();
  json["pid"] = ::getpid();
  if (options_.overhead_budget <= 0) json["reason"] = "not asked for: the budget is 0";
  timespec used{};
  json["own_cpu_s"] = Json();  // of this thread, the writer
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0)
    json["own_cpu_s"] = static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  json["launches_counted"] = cuda_ ? Json(launch_count_->value()) : Json();
  return json;
}

}  // namespace warpmeter
