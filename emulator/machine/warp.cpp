// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/machine/block.h"
#include "emulator/machine/fault.h"

namespace emulator {
namespace {

// Backward branches of one split after which waiting ones get a turn, and the length of that turn.
constexpr std::uint32_t patience = 1024;
constexpr std::uint32_t turn = 64;

}  // namespace

Warp::Warp(Block& block, std::uint32_t index, std::uint32_t lanes)
    : active(lanes),
      live(lanes),
      register_ready(block.program().registers, 0),
      block_(&block),
      program_(&block.program()),
      code_(program_->code.data()),
      index_(index) {
  constexpr std::size_t align = 64;
  storage_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(program_->file_bytes) + align);
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.get());
  file = storage_.get() + (align - address % align) % align;
  std::memcpy(file + program_->constants_at, program_->constants.data(),
              program_->constants.size());
  if (program_->local_bytes > 0) {
    local_storage_ = std::make_unique<std::byte[]>(std::size_t{32} * program_->local_bytes);
    local = local_storage_.get();
    if (checks_enabled()) local_written.resize(std::size_t{4} * program_->local_bytes + 16);
  }
}

void Warp::branch(std::uint32_t taken, std::uint32_t target) {
  const bool backward = target < pc;
  if (taken == active) {
    pc = target;
  } else if (taken != 0) {
    const std::uint32_t rest = active & ~taken;
    // The lower counter goes on.
    if (backward) {
      park({pc, rest});
      active = taken;
      pc = target;
    } else {
      park({target, taken});
      active = rest;
    }
    update_switch();
  }
  if (backward && !parked_.empty() && ++back_branches_ >= (exclusive_ ? turn : patience)) rotate();
}

void Warp::scatter(std::uint32_t mask, const std::uint32_t* targets) {
  if (mask != active) park({pc, active & ~mask});
  for (std::uint32_t rest = mask; rest != 0;) {
    const std::uint32_t target = targets[std::countr_zero(rest)];
    std::uint32_t same = 0;
    for (std::uint32_t m = rest; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      if (targets[lane] == target) same |= 1u << lane;
    }
    park({target, same});
    rest &= ~same;
  }
  active = 0;
  pick();
}

void Warp::exit(std::uint32_t mask) {
  active &= ~mask;
  live &= ~mask;
  if (!parked_.empty()) check_converging();
  if (active == 0) pick();
  block_->lanes_exited(*this);
}

bool Warp::converge(const Instr& instr, std::uint32_t members, std::uint32_t mask) {
  if ((members & mask) != mask) {
    fail(cudaErrorIllegalInstruction, instr, std::countr_zero(mask & ~members),
         fmt::format("a lane that is not in the member mask {:08x} executes {}", members,
                     instr.opcode));
  }
  const std::uint32_t wanted = members & live;
  if ((wanted & ~mask) == 0) return true;
  if (mask != active) park({pc, active & ~mask});
  Split split{pc - 1, mask, Split::State::converging, wanted, 0};
  active = 0;
  for (std::size_t i = 0; i < parked_.size(); ++i) {
    Split& other = parked_[i];
    if (other.state != Split::State::converging || other.pc != split.pc) continue;
    split.mask |= other.mask;
    other = parked_.back();
    parked_.pop_back();
    break;
  }
  park(split);
  check_converging();
  pick();
  return false;
}

void Warp::check_converging() {
  for (Split& split : parked_) {
    if (split.state != Split::State::converging) continue;
    if ((split.wanted & live & ~split.mask) == 0) split.state = Split::State::runnable;
  }
  update_switch();
}

void Warp::wait_at_barrier(std::uint32_t mask, std::uint32_t barrier) {
  if (mask != active) park({pc, active & ~mask});
  park({pc, mask, Split::State::barrier, 0, barrier});
  active = 0;
  pick();
}

void Warp::release_barrier(std::uint32_t barrier) {
  for (Split& split : parked_) {
    if (split.state == Split::State::barrier && split.barrier == barrier) {
      split.state = Split::State::runnable;
    }
  }
  if (active == 0) {
    pick();
  } else {
    update_switch();
  }
}

void Warp::rotate() {
  back_branches_ = 0;
  if (parked_.empty() || active == 0) return;
  if (exclusive_) {
    exclusive_ = false;
    reschedule();
    return;
  }
  const auto other = std::find_if(parked_.begin(), parked_.end(), [](const Split& split) {
    return split.state == Split::State::runnable;
  });
  if (other == parked_.end()) return;
  const Split chosen = *other;
  parked_.erase(other);
  park({pc, active});
  pc = chosen.pc;
  active = chosen.mask;
  exclusive_ = true;
  switch_pc = never_pc;
}

void Warp::park(Split split) { parked_.push_back(split); }

void Warp::reschedule() {
  park({pc, active});
  active = 0;
  pick();
}

void Warp::update_switch() {
  switch_pc = never_pc;
  if (exclusive_) return;
  for (const Split& split : parked_) {
    if (split.state == Split::State::runnable) switch_pc = std::min(switch_pc, split.pc);
  }
}

void Warp::pick() {
  exclusive_ = false;
  const Split* lowest = nullptr;
  for (const Split& split : parked_) {
    if (split.state == Split::State::runnable && (lowest == nullptr || split.pc < lowest->pc)) {
      lowest = &split;
    }
  }
  if (lowest == nullptr) {
    switch_pc = never_pc;
    const bool at_barrier = std::any_of(parked_.begin(), parked_.end(), [](const Split& split) {
      return split.state == Split::State::barrier;
    });
    if (!parked_.empty() && !at_barrier) {
      const Split& split = parked_.front();
      fail(cudaErrorLaunchTimeout, program_->code[split.pc], std::countr_zero(split.mask),
           fmt::format("lanes {:08x} wait for lanes {:08x}, which do not come", split.mask,
                       split.wanted & live & ~split.mask));
    }
    return;
  }
  pc = lowest->pc;
  active = 0;
  std::erase_if(parked_, [this](const Split& split) {
    const bool same = split.state == Split::State::runnable && split.pc == pc;
    if (same) active |= split.mask;
    return same;
  });
  update_switch();
}

std::string Warp::position() const {
  std::string text = fmt::format("block {} warp {}:", block_->name(), index_);
  const auto add = [&](std::uint32_t at, std::uint32_t mask, const char* state) {
    text += fmt::format(" line {} (lanes {:08x}{})", program_->code[at].line, mask, state);
  };
  if (active != 0) add(pc, active, "");
  for (const Split& split : parked_) {
    add(split.state == Split::State::barrier ? split.pc - 1 : split.pc, split.mask,
        split.state == Split::State::barrier      ? ", at barrier"
        : split.state == Split::State::converging ? ", converging"
                                                  : "");
  }
  return text;
}

std::string Warp::where(const Instr& instr, int lane) const {
  return fmt::format("kernel {}, PTX line {} ({}), block {}, thread {}", program_->name, instr.line,
                     instr.opcode, block_->name(),
                     block_->thread_name(index_ * 32 + static_cast<std::uint32_t>(lane)));
}

void Warp::fail(cudaError_t code, const Instr& instr, int lane, const std::string& what) {
  throw Fault(code, where(instr, lane) + ": " + what);
}

}  // namespace emulator
