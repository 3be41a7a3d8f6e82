// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pc_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.h"

namespace warpmeter {

PcCollector::PcCollector(const Target& target, PcOptions options,
                         std::function<std::int64_t()> now_ns)
    : target_(target), options_(options), now_ns_(std::move(now_ns)) {
  if (target_.cupti == nullptr)
    throw InputError("pc: there is no CUPTI here; install that of CUDA 13.0");
  if (options_.share <= 0 || options_.share > 1)
    throw InputError("pc: the share of time with sampling must be above 0 and at most 1");
}

PcCollector::~PcCollector() { disarm(); }

void PcCollector::arm() {
  {
    const std::lock_guard lock(sources_mutex_);
    if (armed_) return;
    armed_ = true;
    window_on_ = options_.share == 1;
    switched_ns_ = now_ns_() - static_cast<std::int64_t>(1e12);  // a window begins at once
    for (auto& [context, state] : contexts_) open(context, state);
  }
  const std::lock_guard lock(thread_mutex_);
  running_ = true;
  thread_ = std::thread([this] {
    std::unique_lock wait(thread_mutex_);
    while (running_) {
      stop_.wait_for(wait, std::chrono::nanoseconds(options_.fetch_ns));
      wait.unlock();
      turn(now_ns_());
      wait.lock();
    }
  });
}

void PcCollector::disarm() noexcept {
  {
    const std::lock_guard lock(thread_mutex_);
    if (!running_) return;
    running_ = false;
    stop_.notify_all();
  }
  thread_.join();
  const std::lock_guard lock(sources_mutex_);
  armed_ = false;
  for (auto& [context, state] : contexts_) close(state);
  const std::lock_guard counts(mutex_);
  last_rows_ = true;
}

void PcCollector::context_created(CUcontext context, std::size_t device) noexcept try {
  const std::lock_guard lock(sources_mutex_);
  if (device >= target_.devices.size()) return;
  ContextState& state = contexts_[context];
  state.device = device;
  if (armed_) open(context, state);
} catch (const std::exception&) {
  // No memory: this context is not sampled.
}

void PcCollector::context_destroyed(CUcontext context) noexcept {
  const std::lock_guard lock(sources_mutex_);
  const auto found = contexts_.find(context);
  if (found == contexts_.end()) return;
  close(found->second);
  contexts_.erase(found);
}

void PcCollector::module_unloading(CUcontext context) noexcept {
  const std::lock_guard lock(sources_mutex_);
  const auto found = contexts_.find(context);
  if (found != contexts_.end()) fetch(found->second);
}

void PcCollector::open(CUcontext context, ContextState& state) {
  if (state.source) return;
  try {
    PcSourceOptions options;
    options.period = options_.period;
    options.windows = options_.share < 1;
    state.source = std::make_unique<PcSource>(*target_.cupti, context,
                                              target_.devices[state.device].major, options);
    state.on = false;
    if (options.windows && window_on_) {
      state.source->start();
      state.on = true;
    }
  } catch (const InputError& error) {
    fail(state, error.what());
  }
}

void PcCollector::close(ContextState& state) {
  if (!state.source) return;
  try {
    if (state.on) state.source->stop();
    const PcLosses losses = state.source->close(taker(state.device));
    lose(state.device, losses);
    if (losses.unread != 0) {
      const std::lock_guard lock(mutex_);
      losses_[{fmt::format("instructions of device {}", state.device),
               "CUPTI had more of them than it handed over at the end"}] += losses.unread;
    }
  } catch (const InputError& error) {
    fail(state, error.what());
  }
  state.source.reset();
}

void PcCollector::fetch(ContextState& state) {
  if (!state.source) return;
  try {
    lose(state.device, state.source->fetch(taker(state.device)));
  } catch (const InputError& error) {
    fail(state, error.what());
  }
}

void PcCollector::turn(std::int64_t now) noexcept try {
  const std::lock_guard lock(sources_mutex_);
  if (!armed_) return;
  if (options_.share < 1) {
    const double pause = static_cast<double>(options_.window_ns) * (1 / options_.share - 1);
    const double phase = window_on_ ? static_cast<double>(options_.window_ns) : pause;
    if (static_cast<double>(now - switched_ns_) >= phase) {
      switch_windows(!window_on_);
      switched_ns_ = now;
    }
  }
  for (auto& [context, state] : contexts_) fetch(state);
} catch (const std::exception&) {
  // No memory: these samples stay with CUPTI.
}

void PcCollector::switch_windows(bool on) {
  window_on_ = on;
  for (auto& [context, state] : contexts_) {
    if (!state.source || state.on == on) continue;
    try {
      on ? state.source->start() : state.source->stop();
      state.on = on;
    } catch (const InputError& error) {
      fail(state, error.what());
    }
  }
}

std::size_t PcCollector::text(std::string_view text) {
  if (const auto found = text_ids_.find(text); found != text_ids_.end()) return found->second;
  texts_.emplace_back(text);
  return text_ids_.emplace(texts_.back(), texts_.size() - 1).first->second;
}

std::function<void(const PcCount&)> PcCollector::taker(std::size_t device) {
  return [this, device](const PcCount& count) {
    const std::lock_guard lock(mutex_);
    counts_[{device, count.cubin_crc, count.offset, text(count.function), text(count.reason)}] +=
        count.samples;
    samples_ += count.samples;
  };
}

void PcCollector::lose(std::size_t device, const PcLosses& losses) {
  const std::string where = fmt::format("device {}", device);
  const std::lock_guard lock(mutex_);
  if (losses.dropped != 0)
    losses_[{"samples of " + where, "the hardware dropped them"}] += losses.dropped;
  if (losses.not_user != 0)
    losses_[{"samples of " + where, "of kernels that CUPTI does not tell of"}] += losses.not_user;
  if (losses.full != 0)
    losses_[{"content of the hardware buffer of " + where,
             "it was full; fetch more often or sample for a smaller share of time"}] += losses.full;
}

void PcCollector::fail(ContextState& state, const std::string& why) {
  state.source.reset();
  const std::lock_guard lock(mutex_);
  ++losses_[{fmt::format("samples of a context of device {}", state.device), why}];
}

std::size_t PcCollector::drain(RowSink& sink) {
  std::map<Key, std::uint64_t> counts;
  std::vector<std::string> texts;
  std::map<std::pair<std::string, std::string>, std::uint64_t> losses;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = now_ns_();
    if (!last_rows_ && now - rows_at_ns_ < options_.rows_ns) return 0;
    rows_at_ns_ = now;
    last_rows_ = false;
    counts.swap(counts_);
    losses.swap(losses_);
    texts = texts_;
  }
  for (const auto& [key, samples] : counts) {
    PcSampleRow row;
    row.process_id = target_.process_id;
    row.device_id = target_.devices[key.device].row_id;
    row.function_id = sink.string(texts[key.function]);
    row.cubin_crc = static_cast<std::int64_t>(key.cubin_crc);
    row.pc_offset = static_cast<std::int64_t>(key.offset);
    row.reason_id = sink.string(texts[key.reason]);
    row.samples = static_cast<std::int64_t>(samples);
    sink.add(row);
  }
  for (const auto& [loss, count] : losses) {
    LossRow row;
    row.process_id = target_.process_id;
    row.collector = name();
    row.what = loss.first;
    row.count = static_cast<std::int64_t>(count);
    row.reason = loss.second;
    sink.add(row);
  }
  return counts.size() + losses.size();
}

Json PcCollector::describe() const {
  Json out;
  out["collector"] = name();
  out["fetch_s"] = static_cast<double>(options_.fetch_ns) * 1e-9;
  out["share"] = options_.share;
  if (options_.share < 1) out["window_s"] = static_cast<double>(options_.window_ns) * 1e-9;
  out["period"] = nullptr;  // CUPTI's own
  if (options_.period) out["period"] = *options_.period;
  out["period_set_below_capability"] = 10;
  const std::lock_guard lock(mutex_);
  out["samples"] = samples_;
  return out;
}

std::vector<StallShare> stall_shares(
    std::span<const std::pair<std::string_view, std::uint64_t>> counts) {
  const auto counted = [](std::string_view reason) { return !reason.ends_with("_not_issued"); };
  double total = 0;
  for (const auto& [reason, samples] : counts)
    if (counted(reason)) total += static_cast<double>(samples);
  std::vector<StallShare> out;
  if (total == 0) return out;
  constexpr double z = 1.6448536269514722;  // normal quantile 0.95, for default_level 0.9
  static_assert(default_level == 0.9);
  for (const auto& [reason, samples] : counts) {
    if (!counted(reason)) continue;
    const double share = static_cast<double>(samples) / total;
    const double shrink = 1 / (1 + z * z / total);
    const double centre = shrink * (share + z * z / (2 * total));
    const double half =
        shrink * z * std::sqrt(share * (1 - share) / total + z * z / (4 * total * total));
    out.push_back(
        {reason, samples, share, {std::max(0.0, centre - half), std::min(1.0, centre + half)}});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const StallShare& a, const StallShare& b) { return a.samples > b.samples; });
  return out;
}

}  // namespace warpmeter
