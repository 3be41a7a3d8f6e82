// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Which block runs where and when.
#include <algorithm>

#include "emulator/machine/device.h"

namespace emulator {

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
    std::uint8_t target = 0;
    for (std::uint8_t s = 1; s < 4; ++s) {
      if (sm.schedulers[s].slots.size() < sm.schedulers[target].slots.size()) target = s;
    }
    warp->scheduler = target;
    sm.schedulers[target].slots.push_back({warp->ready, warp.get(), warp->next_pipe});
  }
  sm.blocks.push_back(std::move(block));
  choose_all(index, now);
}

void Device::place_blocks(std::uint64_t now) {
  place_in_order(now);
  all_placed_ = std::all_of(grids_.begin(), grids_.end(), [](const Running& running) {
    return running.grid->next_block == running.grid->blocks();
  });
}

// Blocks of a later grid start only when all of an earlier one have.
void Device::place_in_order(std::uint64_t now) {
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

// Whose turn is next stays the same.
void Device::remove_done(Scheduler& scheduler) {
  auto& slots = scheduler.slots;
  std::size_t kept = 0;
  std::size_t up_to_last = 0;
  scheduler.asleep = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].warp->done()) {
      if (slots[i].ready == never) ++scheduler.asleep;
      slots[kept++] = slots[i];
    }
    if (i == scheduler.last) up_to_last = kept;
  }
  slots.resize(kept);
  scheduler.last = kept == 0 ? 0 : (up_to_last + kept - 1) % kept;
}

void Device::retire(Sm& sm, Block& block, std::uint64_t now) {
  Grid& grid = block.grid();
  block.leave_cluster();
  wake_all(now);
  --sm.block_count;
  sm.threads -= (grid.block.count() + 31) / 32 * 32;
  sm.shared -= grid.shared_bytes();
  for (Scheduler& scheduler : sm.schedulers) remove_done(scheduler);
  const auto index = static_cast<std::uint32_t>(&sm - sms_.data());
  std::erase_if(sm.blocks, [&block](const auto& other) { return other.get() == &block; });
  choose_all(index, now);
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
