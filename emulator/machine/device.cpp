// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "emulator/machine/fault.h"

namespace emulator {
namespace {

// Cycles by which a scheduler may be ahead of others. Work that the host launches meanwhile begins
// later than that.
constexpr std::uint64_t lookahead = 64;

}  // namespace

Device::Device(const Chip& chip, int ordinal, Links& links)
    : chip_(chip),
      ordinal_(ordinal),
      model_(chip, ordinal, links),
      ps_per_cycle_(1e12 / chip.sm_hz),
      clock_(the_clock_model()),
      sms_(static_cast<std::size_t>(chip.sm_count)) {
  while (leaves_ < 4 * sms_.size()) leaves_ *= 2;
  tree_.assign(2 * leaves_, never);
  for (std::size_t i = 0; i < op_classes; ++i) {
    const Chip::Timing& timing = chip.timing[i];
    costs_[i] = {static_cast<std::uint64_t>(timing.latency),
                 static_cast<std::uint64_t>(std::llround(timing.interval * cycle_parts)),
                 timing.interval};
  }
}

ClockModel the_clock_model() {
  const char* value = std::getenv("WARPMETER_EMULATED_CLOCK");
  if (value == nullptr) return ClockModel::timed;
  if (std::string_view(value) == "off") return ClockModel::off;
  throw std::runtime_error(
      fmt::format("WARPMETER_EMULATED_CLOCK is \"{}\"; it may be \"off\" or not set", value));
}

std::uint64_t Device::cycle_of(Time time) const {
  return time <= 0 ? 0
                   : static_cast<std::uint64_t>(
                         std::ceil(static_cast<double>(time) / ps_per_cycle_ - 1e-6));
}
std::uint64_t Device::last_cycle_at(Time time) const {
  if (time == no_time) return never - 1;
  std::uint64_t cycle = cycle_of(time);
  while (cycle > 0 && time_of(cycle) > time) --cycle;
  return cycle;
}
Time Device::time_of(std::uint64_t cycle) const {
  return cycle == never ? no_time : std::llround(static_cast<double>(cycle) * ps_per_cycle_);
}
std::uint64_t Device::cycles_of_ns(std::uint64_t ns) const {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(ns) * 1e3 / ps_per_cycle_));
}
// SMs leave reset at different times: their clocks differ by a constant.
std::uint64_t Device::sm_clock(std::uint32_t sm, std::uint64_t cycle) const {
  return cycle + 1000003u * (sm + 1);
}
std::uint64_t Device::global_timer(std::uint64_t cycle) const {
  constexpr double epoch_ns = 1.7e18;  // as on hardware: nanoseconds since 1970
  const double ns = static_cast<double>(time_of(cycle)) * 1e-3;
  return static_cast<std::uint64_t>(epoch_ns) +
         static_cast<std::uint64_t>(std::floor(ns / chip_.timer_ns) * chip_.timer_ns);
}
std::uint32_t Device::visible_sm(std::uint32_t sm) const {
  return sm * static_cast<std::uint32_t>(chip_.sm_id_stride);
}
std::uint32_t Device::visible_sms() const {
  return visible_sm(static_cast<std::uint32_t>(sms_.size() - 1)) + 1;
}
bool Device::can_access(const Allocation& allocation) const {
  return allocation.kind != MemoryKind::device || allocation.device == ordinal_ ||
         peers.contains(allocation.device);
}

Time Device::next_time() const { return grids_.empty() ? no_time : time_of(next_cycle()); }

void Device::launch(std::shared_ptr<Grid> grid, Time begin,
                    std::function<void(Grid&, Time)> ended) {
  grid->begin_cycle = cycle_of(begin);
  grid->blocks_left = grid->blocks();
  grid->device = this;
  const std::uint64_t cycle = grid->begin_cycle;
  grids_.push_back({std::move(grid), std::move(ended), std::chrono::steady_clock::now(), false});
  all_placed_ = false;
  at(cycle, [this, cycle] { place_blocks(cycle); });
}

void Device::at(std::uint64_t cycle, std::function<void()> action) {
  actions_.push({cycle, action_count_++, std::move(action)});
  until_ = std::min(until_, cycle);
}

std::uint64_t Device::next_cycle() const {
  return actions_.empty() ? tree_[1] : std::min(tree_[1], actions_.top().cycle);
}

void Device::advance(Time limit, int steps) {
  grid_ended_ = false;
  const std::uint64_t last = last_cycle_at(limit);
  while (steps > 0 && !grid_ended_) {
    const std::uint64_t cycle = next_cycle();
    if (cycle == never || cycle > last) break;
    if (!actions_.empty() && actions_.top().cycle == cycle) {
      const std::function<void()> action = actions_.top().run;
      actions_.pop();
      action();
      --steps;
      continue;
    }
    std::size_t node = 1;
    while (node < leaves_) node = 2 * node + (tree_[2 * node] == cycle ? 0 : 1);
    const std::uint32_t index = in_turn(static_cast<std::uint32_t>(node - leaves_), cycle);
    until_ = std::min(others_next(index), last + 1);
    if (!actions_.empty()) until_ = std::min(until_, actions_.top().cycle);
    ahead_ = std::min(cycle + lookahead, last + 1);
    const int issued = issue(index, steps);
    steps -= issued;
    steps_ += static_cast<std::uint64_t>(issued);
    if (steps_ >= 4096) {
      steps_ = 0;
      check_limits(cycle);
    }
  }
  const bool stuck = next_cycle() == never && !grids_.empty() && grids_.front().started &&
                     grids_.front().grid->blocks_left > 0;
  if (stuck && !grid_ended_) {
    throw Fault(cudaErrorLaunchTimeout,
                fmt::format("kernel {}: all warps wait for each other\n{}",
                            grids_.front().grid->program->name, positions()));
  }
}

void Device::check_limits(std::uint64_t cycle) {
  for (const Running& running : grids_) {
    if (!running.started) continue;
    const double seconds =
        static_cast<double>(cycle - std::min(cycle, running.grid->begin_cycle)) / chip_.sm_hz;
    const std::chrono::duration<double> wall =
        std::chrono::steady_clock::now() - running.wall_begin;
    if (seconds <= chip_.limit_seconds && wall.count() <= chip_.limit_wall_seconds) continue;
    throw Fault(cudaErrorLaunchTimeout,
                fmt::format("kernel {} ran for {:.3g} s of virtual and {:.3g} s of real time, over "
                            "a limit of the chip file\n{}",
                            running.grid->program->name, seconds, wall.count(), positions()));
  }
}

std::string Device::positions() const {
  std::string text;
  int count = 0;
  for (const Sm& sm : sms_) {
    for (const auto& block : sm.blocks) {
      for (const auto& warp : block->warps()) {
        if (!warp->done() && ++count <= 64) text += warp->position() + "\n";
      }
    }
  }
  if (count > 64) text += fmt::format("and {} more warps\n", count - 64);
  return text;
}

void Device::abort() {
  for (Sm& sm : sms_) sm = Sm{};
  std::fill(tree_.begin(), tree_.end(), never);
  grids_.clear();
  actions_ = {};
  woken_blocks_.clear();
  all_placed_ = true;
}

}  // namespace emulator
