// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/cluster.h"

#include "emulator/machine/block.h"

namespace emulator {

void Cluster::arrive(Warp& warp, std::uint32_t mask) {
  warp.cluster_lanes |= mask;
  warp.cluster_phase = phase_;
  arrived_ = true;
  complete_if_all();
}

void Cluster::wait(Warp& warp, std::uint32_t mask) {
  if (warp.cluster_phase != phase_) return;
  waiters_.push_back(&warp);
  warp.wait_at_barrier(mask, barrier_number);
}

// Lanes that have ended count as arrived.
void Cluster::complete_if_all() {
  if (!arrived_) return;
  for (Block* block : blocks) {
    if (block == nullptr) continue;
    for (const auto& warp : block->warps()) {
      if ((warp->live & ~warp->cluster_lanes) != 0) return;
    }
  }
  for (Block* block : blocks) {
    if (block == nullptr) continue;
    block->order();
    for (const auto& warp : block->warps()) warp->cluster_lanes = 0;
  }
  ++phase_;
  arrived_ = false;
  const std::vector<Warp*> waiters = std::move(waiters_);
  waiters_.clear();
  for (Warp* warp : waiters) {
    warp->release_barrier(barrier_number);
    warp->block().note_woken(*warp);
  }
}

}  // namespace emulator
