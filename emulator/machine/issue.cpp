// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Issue, scoreboard and pipes: the clock of an SM.
#include <algorithm>
#include <cmath>

#include "emulator/machine/device.h"

namespace emulator {

void Device::set_next(std::uint32_t index, std::uint64_t cycle) {
  std::size_t node = leaves_ + index;
  tree_[node] = cycle;
  for (node /= 2; node >= 1; node /= 2) {
    const std::uint64_t low = std::min(tree_[2 * node], tree_[2 * node + 1]);
    if (tree_[node] == low) break;
    tree_[node] = low;
  }
}

// The warp that can issue first; of several, the next in turn.
void Device::choose(std::uint32_t index, std::uint64_t after) {
  Sm& sm = sms_[index / 4];
  Scheduler& scheduler = sm.schedulers[index % 4];
  const std::size_t count = scheduler.warps.size();
  after = std::max(after, scheduler.next_issue);
  std::uint64_t best = never;
  scheduler.chosen = nullptr;
  std::size_t chosen = scheduler.last;
  for (std::size_t n = 0, at = scheduler.last; n < count; ++n) {
    if (++at >= count) at = 0;
    Warp& warp = *scheduler.warps[at];
    if (warp.active == 0) continue;
    std::uint64_t when = std::max(warp.ready, after);
    if (when >= best) continue;
    when = std::max(when, scheduler.pipe_cycle[static_cast<std::size_t>(warp.next_pipe)]);
    if (warp.next_pipe == Pipe::lsu) when = std::max(when, sm.lsu_free);
    if (when < best) {
      best = when;
      scheduler.chosen = &warp;
      chosen = at;
    }
  }
  scheduler.last = chosen;
  set_next(index, best);
}

void Device::wait_for_operands(Warp& warp) {
  if (warp.active == 0) return;
  const Instr& next = warp.next();
  warp.next_pipe = next.pipe;
  const std::uint16_t* scores = warp.program().scoreboard.data() + next.reads;
  const std::size_t count = std::size_t{next.read_count} + next.write_count;
  std::uint64_t ready = warp.ready;
  for (std::size_t i = 0; i < count; ++i) ready = std::max(ready, warp.register_ready[scores[i]]);
  warp.ready = ready;
}

std::uint64_t Device::result_time(Sm& sm, std::uint32_t index, Warp& warp, const Instr& instr) {
  const Chip::Timing& timing = chip_.timing[static_cast<std::size_t>(instr.op_class)];
  const std::uint64_t plain = warp.now + static_cast<std::uint64_t>(timing.latency);
  switch (instr.op_class) {
    case OpClass::load:
    case OpClass::store:
    case OpClass::atomic:
    case OpClass::matrix_load:
    case OpClass::async_copy:
      break;
    default:
      return plain;
  }
  if (warp.access.space == ptx::Space::generic) return plain;
  const MemoryModel::Timing memory =
      model_.access(index, instr, warp.access, warp.block().rank(), warp.now);
  sm.lsu_free = std::max(sm.lsu_free, memory.lsu_free);
  std::uint64_t done = memory.done;
  if (warp.access.on_host && warp.access.space == ptx::Space::global) {
    done = std::max(done, cycle_of(host_time_));
  }
  warp.access.on_host = false;
  warp.access.space = ptx::Space::generic;
  if (instr.op_class == OpClass::store) {
    warp.stores_done = std::max(warp.stores_done, done);
    return warp.now;
  }
  if (instr.op_class == OpClass::async_copy) {
    AsyncGroup& open = warp.async_groups.back();
    open.done = std::max(open.done, done);
  }
  return done;
}

void Device::account(Sm& sm, std::uint32_t index, Scheduler& scheduler, Warp& warp,
                     const Instr& instr) {
  const std::uint64_t now = warp.now;
  ++warp.issued;
  ++model_.counters.warp_instructions;
  model_.counters.thread_instructions[static_cast<std::size_t>(instr.op_class)] +=
      static_cast<std::uint64_t>(std::popcount(warp.executed));
  warp.ready = now + 1;
  if (warp.executed != 0) {
    const Chip::Timing& timing = chip_.timing[static_cast<std::size_t>(instr.op_class)];
    const Pipe pipe = instr.pipe;
    double& free = scheduler.pipe_free[static_cast<std::size_t>(pipe)];
    const double interval = pipe == Pipe::tensor ? instr.work / timing.interval : timing.interval;
    free = std::max(free, static_cast<double>(now)) + interval;
    scheduler.pipe_cycle[static_cast<std::size_t>(pipe)] =
        static_cast<std::uint64_t>(std::ceil(free));
    const std::uint64_t done = result_time(sm, index, warp, instr);
    const std::uint16_t* writes = warp.program().scoreboard.data() + instr.reads + instr.read_count;
    for (std::size_t i = 0; i < instr.write_count; ++i) warp.register_ready[writes[i]] = done;
    // These hold up the warp itself, not a register.
    if (instr.op_class == OpClass::branch) warp.ready = std::max(warp.ready, done);
    if (instr.op_class == OpClass::fence)
      warp.ready = std::max({warp.ready, done, warp.stores_done});
    if (instr.op_class == OpClass::sleep) warp.ready = std::max(warp.ready, warp.sleep_until);
    if (warp.wait_until > warp.ready) warp.ready = warp.wait_until;
  }
  wait_for_operands(warp);
}

void Device::wake(Block& block, std::uint64_t now) {
  const Chip::Timing& timing = chip_.timing[static_cast<std::size_t>(OpClass::barrier)];
  const std::uint64_t when = now + static_cast<std::uint64_t>(timing.latency);
  for (Warp* warp : block.woken) {
    warp->ready = std::max(warp->ready, when);
    wait_for_operands(*warp);
  }
  block.woken.clear();
}

void Device::wake_all(std::uint64_t now) {
  const std::vector<Block*> blocks = std::move(woken_blocks_);
  woken_blocks_.clear();
  for (Block* block : blocks) {
    wake(*block, now);
    for (std::uint32_t s = 0; s < 4; ++s) choose(4 * block->sm() + s, now);
  }
}

void Device::issue(std::uint32_t index, std::uint64_t cycle) {
  Sm& sm = sms_[index / 4];
  Scheduler& scheduler = sm.schedulers[index % 4];
  Warp& warp = *scheduler.chosen;
  warp.now = cycle;
  scheduler.next_issue = cycle + 1;
  const Instr& instr = warp.step();
  account(sm, index / 4, scheduler, warp, instr);
  Block& block = warp.block();
  if (!woken_blocks_.empty()) wake_all(cycle);
  if (warp.done()) {
    // Stores that are on their way belong to the grid's time.
    block.grid().end_cycle = std::max({block.grid().end_cycle, cycle + 1, warp.stores_done});
    if (block.done()) {
      retire(sm, block, cycle + 1);
      return;
    }
  }
  choose(index, cycle);
}

}  // namespace emulator
