// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "emulator/machine/fault.h"

namespace emulator {

Device::Device(const Chip& chip, int ordinal)
    : chip_(chip),
      ordinal_(ordinal),
      model_(chip, ordinal),
      ps_per_cycle_(1e12 / chip.sm_hz),
      sms_(static_cast<std::size_t>(chip.sm_count)) {
  while (leaves_ < 4 * sms_.size()) leaves_ *= 2;
  tree_.assign(2 * leaves_, never);
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

Time Device::next_time() const {
  if (grids_.empty()) return no_time;
  std::uint64_t cycle = next_cycle();
  // Grids that no SM works on yet wait for their begin.
  for (const Running& running : grids_) {
    if (!running.started) cycle = std::min(cycle, running.grid->begin_cycle);
    if (running.grid->next_block < running.grid->blocks()) break;
  }
  return time_of(cycle);
}

void Device::launch(std::shared_ptr<Grid> grid, Time begin,
                    std::function<void(Grid&, Time)> ended) {
  grid->begin_cycle = cycle_of(begin);
  grid->blocks_left = grid->blocks();
  grid->holding_blocks = grid->blocks();
  grid->device = this;
  grids_.push_back({std::move(grid), std::move(ended), std::chrono::steady_clock::now(), false});
}

int Device::blocks_per_sm(const Program& program, std::uint64_t threads,
                          std::uint64_t shared) const {
  if (threads == 0) return 0;
  const std::uint64_t padded = (threads + 31) / 32 * 32;
  auto count = static_cast<std::uint64_t>(chip_.sm_threads) / padded;
  count = std::min(count, static_cast<std::uint64_t>(chip_.sm_blocks));
  const std::uint64_t bytes = shared + program.shared_bytes;
  if (bytes > 0) count = std::min(count, static_cast<std::uint64_t>(chip_.sm_shared_bytes) / bytes);
  return static_cast<int>(count);
}

// The SM with room that has the fewest threads; what the block takes is counted there.
Device::Sm* Device::find_room(const Grid& grid) {
  const std::uint64_t threads = (grid.block.count() + 31) / 32 * 32;
  const std::uint64_t shared = grid.shared_bytes();
  Sm* best = nullptr;
  for (Sm& sm : sms_) {
    if (sm.block_count >= chip_.sm_blocks) continue;
    if (sm.threads + threads > static_cast<std::uint64_t>(chip_.sm_threads)) continue;
    if (sm.shared + shared > static_cast<std::uint64_t>(chip_.sm_shared_bytes)) continue;
    if (best == nullptr || sm.threads < best->threads) best = &sm;
  }
  if (best == nullptr) return nullptr;
  ++best->block_count;
  best->threads += threads;
  best->shared += shared;
  return best;
}

// All blocks of a cluster, which may be one block, or none.
bool Device::place_cluster(Grid& grid, std::uint64_t now) {
  const Dim& c = grid.cluster;
  std::vector<Sm*> rooms;
  while (rooms.size() < c.count()) {
    Sm* room = find_room(grid);
    if (room == nullptr) break;
    rooms.push_back(room);
  }
  if (rooms.size() < c.count()) {
    for (Sm* room : rooms) {
      --room->block_count;
      room->threads -= (grid.block.count() + 31) / 32 * 32;
      room->shared -= grid.shared_bytes();
    }
    return false;
  }
  const std::uint64_t number = grid.next_block / c.count();
  const std::uint64_t across = grid.grid.x / c.x;
  const std::uint64_t down = grid.grid.y / c.y;
  const auto cluster = std::make_shared<Cluster>();
  cluster->blocks.resize(c.count());
  for (std::uint32_t rank = 0; rank < c.count(); ++rank) {
    const std::uint64_t x = number % across * c.x + rank % c.x;
    const std::uint64_t y = number / across % down * c.y + rank / c.x % c.y;
    const std::uint64_t z = number / across / down * c.z + rank / c.x / c.y;
    const auto index = static_cast<std::uint32_t>(rooms[rank] - sms_.data());
    auto block = std::make_shared<Block>(grid, x + grid.grid.x * (y + grid.grid.y * z), index);
    if (c.count() > 1) block->join(cluster, rank);
    start_block(grid, std::move(block), now);
  }
  grid.next_block += c.count();
  return true;
}

void Device::start_block(Grid& grid, std::shared_ptr<Block> block, std::uint64_t now) {
  const std::uint32_t index = block->sm();
  Sm& sm = sms_[index];
  model_.set_carveout(index, static_cast<std::int64_t>(sm.shared));
  const std::uint64_t begin = now + static_cast<std::uint64_t>(chip_.block_cycles);
  for (const auto& warp : block->warps()) {
    warp->pc = grid.program->entry;
    warp->ready = begin;
    wait_for_operands(*warp);
    // To the scheduler with the fewest warps.
    std::uint32_t target = 0;
    for (std::uint32_t s = 1; s < 4; ++s) {
      if (sm.schedulers[s].warps.size() < sm.schedulers[target].warps.size()) target = s;
    }
    sm.schedulers[target].warps.push_back(warp.get());
  }
  sm.blocks.push_back(std::move(block));
  for (std::uint32_t s = 0; s < 4; ++s) choose(4 * index + s, now);
}

void Device::meet(Prerequisite& prerequisite, Time time) {
  prerequisite.done = true;
  const std::vector<Warp*> waiters = std::move(prerequisite.waiters);
  for (Warp* warp : waiters) {
    warp->release_barrier(Prerequisite::barrier_number);
    warp->block().note_woken(*warp);
  }
  wake_all(cycle_of(time));
}

void Device::at(std::uint64_t cycle, std::function<void()> action) {
  actions_.push({cycle, action_count_++, std::move(action)});
}

std::uint64_t Device::next_cycle() const {
  return actions_.empty() ? tree_[1] : std::min(tree_[1], actions_.top().cycle);
}

// Blocks of a later grid start only when all of an earlier one have.
void Device::place_blocks(std::uint64_t now) {
  for (Running& running : grids_) {
    Grid& grid = *running.grid;
    if (grid.begin_cycle > now) return;
    if (!running.started) {
      running.started = true;
      grid.counters_at_begin = model_.counters;
      running.wall_begin = std::chrono::steady_clock::now();
      if (&running == &grids_.front()) model_.begin_kernel();
    }
    while (grid.next_block < grid.blocks()) {
      if (!place_cluster(grid, now)) return;
    }
  }
}

void Device::advance(Time limit, int steps) {
  grid_ended_ = false;
  for (const Running& running : grids_) {
    if (running.started) continue;
    if (running.grid->begin_cycle <= std::min(next_cycle(), cycle_of(limit)))
      place_blocks(running.grid->begin_cycle);
    break;
  }
  const std::uint64_t last = last_cycle_at(limit);
  while (steps-- > 0 && !grid_ended_) {
    const std::uint64_t cycle = next_cycle();
    if (cycle == never || cycle > last) break;
    if (!actions_.empty() && actions_.top().cycle == cycle) {
      const std::function<void()> action = actions_.top().run;
      actions_.pop();
      action();
      continue;
    }
    std::size_t node = 1;
    while (node < leaves_) node = 2 * node + (tree_[2 * node] == cycle ? 0 : 1);
    issue(static_cast<std::uint32_t>(node - leaves_), cycle);
    if ((++steps_ & 0xfff) == 0) check_limits(cycle);
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
}

void Device::retire(Sm& sm, Block& block, std::uint64_t now) {
  Grid& grid = block.grid();
  block.leave_cluster();
  block.trigger_dependents(now);
  wake_all(now);
  --sm.block_count;
  sm.threads -= (grid.block.count() + 31) / 32 * 32;
  sm.shared -= grid.shared_bytes();
  for (Scheduler& scheduler : sm.schedulers) {
    std::erase_if(scheduler.warps, [](const Warp* warp) { return warp->done(); });
    scheduler.last = 0;
  }
  const auto index = static_cast<std::uint32_t>(&sm - sms_.data());
  std::erase_if(sm.blocks, [&block](const auto& other) { return other.get() == &block; });
  for (std::uint32_t s = 0; s < 4; ++s) choose(4 * index + s, now);
  if (--grid.blocks_left == 0) {
    grid_ended_ = true;
    grid.end_cycle = std::max(grid.end_cycle, now);
    const auto found = std::find_if(grids_.begin(), grids_.end(),
                                    [&grid](const Running& r) { return r.grid.get() == &grid; });
    const Running running = std::move(*found);
    grids_.erase(found);
    place_blocks(now);
    running.ended(grid, time_of(grid.end_cycle));
    return;
  }
  place_blocks(now);
}

}  // namespace emulator
