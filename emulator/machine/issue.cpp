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

// Of the schedulers of an SM that want its load/store unit in this cycle, the next in turn.
std::uint32_t Device::in_turn(std::uint32_t index, std::uint64_t cycle) const {
  const Sm& sm = sms_[index / 4];
  const auto wants = [&](std::uint32_t s) {
    const Scheduler& scheduler = sm.schedulers[s];
    return scheduler.next == cycle && scheduler.slots[scheduler.chosen].pipe == Pipe::lsu;
  };
  if (!wants(index % 4)) return index;
  for (std::uint32_t n = 1; n <= 4; ++n) {
    const std::uint32_t s = (sm.lsu_last + n) % 4;
    if (wants(s)) return index / 4 * 4 + s;
  }
  return index;
}

// When another scheduler than this has something to do.
std::uint64_t Device::others_next(std::uint32_t index) const {
  std::uint64_t low = never;
  for (std::size_t node = leaves_ + index; node > 1; node /= 2)
    low = std::min(low, tree_[node ^ 1]);
  return low;
}

// The warp that can issue first; of several, the next in turn.
void Device::choose(std::uint32_t index, std::uint64_t after) {
  Sm& sm = sms_[index / 4];
  Scheduler& scheduler = sm.schedulers[index % 4];
  const std::size_t count = scheduler.slots.size();
  after = std::max(after, scheduler.next_issue);
  std::uint64_t best = never;
  std::size_t chosen = scheduler.last;
  for (std::size_t n = 0, at = scheduler.last; n < count && best > after; ++n) {
    if (++at >= count) at = 0;
    const Slot& slot = scheduler.slots[at];
    if (slot.ready >= best) continue;
    std::uint64_t when = std::max(slot.ready, after);
    when = std::max(when, scheduler.pipe_cycle[static_cast<std::size_t>(slot.pipe)]);
    if (slot.pipe == Pipe::lsu) when = std::max(when, sm.lsu_free);
    if (when < best) {
      best = when;
      chosen = at;
    }
  }
  scheduler.chosen = chosen;
  scheduler.next = best;
}

void Device::update_slot(Scheduler& scheduler, std::size_t index) {
  Slot& slot = scheduler.slots[index];
  const Warp& warp = *slot.warp;
  if (slot.ready == never) --scheduler.asleep;
  slot.ready = warp.active == 0 ? never : warp.ready;
  if (slot.ready == never) ++scheduler.asleep;
  slot.pipe = warp.next_pipe;
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
  const std::uint64_t plain = warp.now + costs_[static_cast<std::size_t>(instr.op_class)].latency;
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
  const bool store = instr.op_class == OpClass::store;
  if (store || instr.op_class == OpClass::atomic) {
    warp.stores_done = std::max(warp.stores_done, done);
  }
  if (store) return warp.now;
  if (instr.op_class == OpClass::async_copy) {
    AsyncGroup& open = warp.async_groups.back();
    open.done = std::max(open.done, done);
  }
  return done;
}

void Device::count(const Warp& warp, const Instr& instr) {
  ++model_.counters.warp_instructions;
  model_.counters.thread_instructions[static_cast<std::size_t>(instr.op_class)] +=
      static_cast<std::uint64_t>(std::popcount(warp.executed));
}

void Device::account(Sm& sm, std::uint32_t index, Scheduler& scheduler, Warp& warp,
                     const Instr& instr) {
  const std::uint64_t now = warp.now;
  count(warp, instr);
  warp.ready = now + 1;
  if (warp.executed != 0) {
    const Cost& cost = costs_[static_cast<std::size_t>(instr.op_class)];
    const auto pipe = static_cast<std::size_t>(instr.pipe);
    const std::uint64_t interval =
        instr.pipe == Pipe::tensor
            ? static_cast<std::uint64_t>(instr.work / cost.work_per_cycle * cycle_parts + 0.5)
            : cost.interval;
    // A pipe that became free during the cycle before has lost nothing of it, so that intervals
    // that are no whole cycles keep their mean.
    std::uint64_t& free = scheduler.pipe_free[pipe];
    constexpr std::uint64_t one = std::uint64_t{1} << cycle_part_bits;
    free = std::max(free + one - 1, now << cycle_part_bits) - (one - 1) + interval;
    scheduler.pipe_cycle[pipe] =
        (free + (std::uint64_t{1} << cycle_part_bits) - 1) >> cycle_part_bits;
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
  Sm& sm = sms_[block.sm()];
  const std::uint64_t latency =
      clock_ == ClockModel::off ? 1 : costs_[static_cast<std::size_t>(OpClass::barrier)].latency;
  for (Warp* warp : block.woken) {
    warp->ready = std::max(warp->ready, now + latency);
    wait_for_operands(*warp);
    Scheduler& scheduler = sm.schedulers[warp->scheduler];
    for (std::size_t i = 0; i < scheduler.slots.size(); ++i) {
      if (scheduler.slots[i].warp == warp) update_slot(scheduler, i);
    }
  }
  block.woken.clear();
}

void Device::wake_all(std::uint64_t now) {
  const std::vector<Block*> blocks = std::move(woken_blocks_);
  woken_blocks_.clear();
  for (Block* block : blocks) {
    wake(*block, now);
    choose_all(block->sm(), now);
  }
}

void Device::choose_all(std::uint32_t sm, std::uint64_t after) {
  for (std::uint32_t s = 0; s < 4; ++s) {
    choose(4 * sm + s, after);
    set_next(4 * sm + s, sms_[sm].schedulers[s].next);
  }
  until_ = 0;
}

// Without a timing model: a turn of some instructions, a cycle each.
void Device::issue_turn(Scheduler& scheduler, Warp& warp) {
  constexpr int turn = 32;
  std::uint64_t cycle = warp.now;
  for (int n = 0; n < turn; ++n) {
    warp.now = cycle++;
    const Instr& instr = warp.step();
    count(warp, instr);
    warp.ready = cycle;
    if (warp.access.on_host) warp.ready = std::max(warp.ready, cycle_of(host_time_));
    warp.access.on_host = false;
    if (instr.op_class == OpClass::sleep) warp.ready = std::max(warp.ready, warp.sleep_until);
    warp.ready = std::max(warp.ready, warp.wait_until);
    if (warp.active == 0 || warp.ready > cycle || !woken_blocks_.empty()) break;
  }
  scheduler.next_issue = cycle;
}

// Whether the scheduler may issue before others of the device, which are at an earlier cycle: if
// nothing that they do can change what it does.
bool Device::may_go_on(const Scheduler& scheduler) const {
  if (scheduler.next < until_) return true;
  return scheduler.next < ahead_ && scheduler.asleep == 0 && all_placed_ &&
         scheduler.slots[scheduler.chosen].warp->next().alone;
}

// Instructions of one scheduler, as long as nothing else comes first; returns how many.
int Device::issue(std::uint32_t index, int steps) {
  Sm& sm = sms_[index / 4];
  Scheduler& scheduler = sm.schedulers[index % 4];
  if (scheduler.slots[scheduler.chosen].pipe == Pipe::lsu && sm.lsu_free > scheduler.next) {
    // Taken by others since this was chosen.
    choose(index, scheduler.next);
    set_next(index, scheduler.next);
    return 1;
  }
  int issued = 0;
  do {
    const std::size_t slot = scheduler.chosen;
    Warp& warp = *scheduler.slots[slot].warp;
    const std::uint64_t cycle = scheduler.next;
    warp.now = cycle;
    scheduler.last = slot;
    if (scheduler.slots[slot].pipe == Pipe::lsu) sm.lsu_last = index % 4;
    ++issued;
    if (clock_ == ClockModel::off) {
      issue_turn(scheduler, warp);
    } else {
      scheduler.next_issue = cycle + 1;
      account(sm, index / 4, scheduler, warp, warp.step());
    }
    update_slot(scheduler, slot);
    if (!woken_blocks_.empty()) wake_all(cycle);
    if (warp.done()) {
      // Stores that are on their way belong to the grid's time.
      Grid& grid = warp.block().grid();
      grid.end_cycle = std::max({grid.end_cycle, scheduler.next_issue, warp.stores_done});
      if (warp.block().done()) {
        retire(sm, warp.block(), scheduler.next_issue);
        return issued;
      }
    }
    choose(index, cycle);
  } while (may_go_on(scheduler) && issued < steps);
  set_next(index, scheduler.next);
  return issued;
}

}  // namespace emulator
