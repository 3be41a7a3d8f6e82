// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/block.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/machine/address.h"
#include "emulator/machine/device.h"

namespace emulator {

Block::Block(Grid& grid, std::uint64_t linear, std::uint32_t sm)
    : shared_bytes(grid.shared_bytes()), grid_(grid), linear_(linear), sm_(sm) {
  at_ = {static_cast<std::uint32_t>(linear % grid.grid.x),
         static_cast<std::uint32_t>(linear / grid.grid.x % grid.grid.y),
         static_cast<std::uint32_t>(linear / grid.grid.x / grid.grid.y)};
  shared = std::make_unique<std::byte[]>(shared_bytes + 16);
  const auto threads = static_cast<std::uint32_t>(grid.block.count());
  for (std::uint32_t begin = 0; begin < threads; begin += 32) {
    const std::uint32_t count = std::min(32u, threads - begin);
    const std::uint32_t lanes = count == 32 ? all_lanes : (1u << count) - 1;
    warps_.push_back(std::make_unique<Warp>(*this, begin / 32, lanes));
    fill_specials(*warps_.back());
    warps_.back()->thread_registers = launch_registers();
  }
  live_warps_ = static_cast<std::uint32_t>(warps_.size());
  if (shared_bytes > 0 && checks_enabled()) {
    shadow = std::make_unique<SharedShadow>(shared_bytes, warps_.size());
  }
}

// What ptxas would give a thread; unknown without .maxnreg or .maxntid.
std::uint32_t Block::launch_registers() const {
  const Program& p = program();
  if (p.max_registers != 0 || p.min_blocks == 0) return p.max_registers;
  const auto all = static_cast<std::uint32_t>(grid_.device->chip().sm_registers);
  return std::min(255u, all / (p.max_threads * p.min_blocks)) / 8 * 8;
}

std::string Block::name() const { return fmt::format("({},{},{})", at_.x, at_.y, at_.z); }

Block* Block::peer(std::uint32_t selector) {
  if (selector == 0) return this;
  if (cluster_ == nullptr) return selector == 1 ? this : nullptr;
  return selector <= cluster_->blocks.size() ? cluster_->blocks[selector - 1] : nullptr;
}

void Block::join(std::shared_ptr<Cluster> cluster, std::uint32_t rank) {
  cluster_ = std::move(cluster);
  rank_ = rank;
  cluster_->blocks.at(rank) = this;
}

void Block::leave_cluster() {
  if (cluster_ == nullptr) return;
  cluster_->blocks[rank_] = nullptr;
  cluster_->complete_if_all();
}

void Block::trigger_dependents(std::uint64_t cycle) {
  if (triggered_) return;
  triggered_ = true;
  if (--grid_.holding_blocks == 0 && grid_.on_trigger) {
    grid_.on_trigger(cycle);
    grid_.device->interrupt();
  }
}

void Block::note_woken(Warp& warp) {
  if (woken.empty()) grid_.device->note_woken(*this);
  woken.push_back(&warp);
}

std::string Block::thread_name(std::uint32_t thread) const {
  const Dim& size = grid_.block;
  return fmt::format("({},{},{})", thread % size.x, thread / size.x % size.y,
                     thread / size.x / size.y);
}

void Block::fill_specials(Warp& warp) {
  for (const SpecialSlot& slot : program().specials) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (!slot.wide) {
        reinterpret_cast<std::uint32_t*>(warp.file + slot.offset)[lane] =
            value_of(slot.special, lane, warp);
        continue;
      }
      std::uint64_t value = 0;
      if (slot.special == Special::gridid) value = grid_.id;
      if (slot.special == Special::local_base) value = local_window;
      if (slot.special == Special::param_base) value = param_window;
      reinterpret_cast<std::uint64_t*>(warp.file + slot.offset)[lane] = value;
    }
  }
}

std::uint32_t Block::value_of(Special special, std::uint32_t lane, const Warp& warp) const {
  const std::uint32_t thread = warp.index() * 32 + lane;
  const Dim& n = grid_.block;
  const Dim& c = grid_.cluster;
  switch (special) {
    case Special::tid_x:
      return thread % n.x;
    case Special::tid_y:
      return thread / n.x % n.y;
    case Special::tid_z:
      return thread / n.x / n.y;
    case Special::ntid_x:
      return n.x;
    case Special::ntid_y:
      return n.y;
    case Special::ntid_z:
      return n.z;
    case Special::ctaid_x:
      return at_.x;
    case Special::ctaid_y:
      return at_.y;
    case Special::ctaid_z:
      return at_.z;
    case Special::nctaid_x:
      return grid_.grid.x;
    case Special::nctaid_y:
      return grid_.grid.y;
    case Special::nctaid_z:
      return grid_.grid.z;
    case Special::laneid:
      return lane;
    case Special::warpid:
      return warp.index();
    case Special::nwarpid:
      return grid_.device->chip().max_warps();
    case Special::smid:
      return grid_.device->visible_sm(sm_);
    case Special::nsmid:
      return grid_.device->visible_sms();
    case Special::gridid:
      return static_cast<std::uint32_t>(grid_.id);
    case Special::lanemask_eq:
      return 1u << lane;
    case Special::lanemask_le:
      return (2u << lane) - 1;
    case Special::lanemask_lt:
      return (1u << lane) - 1;
    case Special::lanemask_ge:
      return ~((1u << lane) - 1);
    case Special::lanemask_gt:
      return ~((2u << lane) - 1);
    case Special::dynamic_smem_size:
      return grid_.dynamic_shared;
    case Special::total_smem_size:
      return shared_bytes;
    case Special::clusterid_x:
      return at_.x / c.x;
    case Special::clusterid_y:
      return at_.y / c.y;
    case Special::clusterid_z:
      return at_.z / c.z;
    case Special::nclusterid_x:
      return grid_.grid.x / c.x;
    case Special::nclusterid_y:
      return grid_.grid.y / c.y;
    case Special::nclusterid_z:
      return grid_.grid.z / c.z;
    case Special::cluster_ctaid_x:
      return at_.x % c.x;
    case Special::cluster_ctaid_y:
      return at_.y % c.y;
    case Special::cluster_ctaid_z:
      return at_.z % c.z;
    case Special::cluster_nctaid_x:
      return c.x;
    case Special::cluster_nctaid_y:
      return c.y;
    case Special::cluster_nctaid_z:
      return c.z;
    case Special::cluster_ctarank:
      return at_.x % c.x + c.x * (at_.y % c.y + c.y * (at_.z % c.z));
    case Special::cluster_nctarank:
      return static_cast<std::uint32_t>(c.count());
    case Special::is_explicit_cluster:
      return c.count() > 1 ? 1 : 0;
    default:
      return 0;
  }
}

void Block::arrive(Warp& warp, const Instr& instr, std::uint32_t mask, std::uint32_t number,
                   std::uint32_t threads, Reduction reduction, std::uint32_t predicate,
                   bool waits) {
  Barrier& barrier = barriers_.at(number);
  barrier.lanes.resize(warps_.size());
  barrier.used = true;
  barrier.threads = threads;
  barrier.lanes[warp.index()] |= mask;
  if (reduction != Reduction::none) {
    barrier.reduction = reduction;
    barrier.popc += static_cast<std::uint32_t>(std::popcount(predicate & mask));
    barrier.voters += static_cast<std::uint32_t>(std::popcount(mask));
  }
  if (waits) {
    barrier.waiters.push_back({&warp, &instr, mask});
    warp.wait_at_barrier(mask, number);
  }
  complete_if_full(number);
}

// A warp whose live lanes have all arrived counts as 32 threads, as the hardware counts warps.
void Block::complete_if_full(std::uint32_t number) {
  Barrier& barrier = barriers_[number];
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;
  for (const auto& warp : warps_) {
    const std::uint32_t lanes = barrier.lanes[warp->index()];
    if (!warp->done()) expected += 32;
    if (lanes != 0) {
      arrived += (lanes & warp->live) == warp->live
                     ? 32
                     : static_cast<std::uint32_t>(std::popcount(lanes));
    }
  }
  if (barrier.threads != 0) expected = (barrier.threads + 31) / 32 * 32;
  if (arrived < expected) return;
  order();
  Barrier full;
  std::swap(full, barrier);
  for (const Waiter& waiter : full.waiters) {
    if (full.reduction != Reduction::none) {
      std::byte* dst = waiter.warp->file + waiter.instr->dst;
      if (full.reduction == Reduction::popc) {
        for (std::uint32_t m = waiter.mask; m != 0; m &= m - 1) {
          reinterpret_cast<std::uint32_t*>(dst)[std::countr_zero(m)] = full.popc;
        }
      } else {
        const bool value =
            full.reduction == Reduction::any ? full.popc > 0 : full.popc == full.voters;
        auto& bits = *reinterpret_cast<std::uint32_t*>(dst);
        bits = value ? bits | waiter.mask : bits & ~waiter.mask;
      }
    }
    waiter.warp->release_barrier(number);
    note_woken(*waiter.warp);
  }
}

void Block::lanes_exited(Warp& warp) {
  if (warp.done()) --live_warps_;
  for (std::uint32_t number = 0; number < barriers_.size(); ++number) {
    if (barriers_[number].used && !barriers_[number].waiters.empty()) complete_if_full(number);
  }
  if (cluster_ != nullptr) cluster_->complete_if_all();
}

}  // namespace emulator
