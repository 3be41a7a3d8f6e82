// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/machine/cluster.h"
#include "emulator/machine/counters.h"
#include "emulator/machine/prerequisite.h"
#include "emulator/machine/register_pool.h"
#include "emulator/machine/warp.h"

namespace emulator {

class Device;

struct Dim {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// One launch of a kernel.
struct Grid {
  const Program* program = nullptr;
  Dim grid;
  Dim block;
  Dim cluster;
  std::uint32_t dynamic_shared = 0;
  std::vector<std::byte> params;
  std::uint64_t id = 0;
  Device* device = nullptr;

  std::uint64_t next_block = 0;  // not yet placed on an SM
  std::uint64_t blocks_left = 0;
  std::uint64_t begin_cycle = 0;
  std::uint64_t end_cycle = 0;
  Counters counters_at_begin;
  // Of programmatic launches: null if all work ahead has ended.
  std::shared_ptr<Prerequisite> prerequisite;
  std::uint64_t holding_blocks = 0;               // that have not let dependents start
  std::function<void(std::uint64_t)> on_trigger;  // all have, at a cycle
  std::uint64_t blocks() const { return grid.count(); }
  std::uint32_t shared_bytes() const { return program->shared_bytes + dynamic_shared; }
};

enum class Reduction : std::uint8_t { none, popc, all, any };

// A thread block on an SM.
class Block : public std::enable_shared_from_this<Block> {
 public:
  Block(Grid& grid, std::uint64_t linear, std::uint32_t sm);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const Program& program() const { return *grid_.program; }
  Grid& grid() const { return grid_; }
  std::uint32_t sm() const { return sm_; }
  std::vector<std::unique_ptr<Warp>>& warps() { return warps_; }
  bool done() const { return live_warps_ == 0; }

  // `threads` of 0: all of the block. Warps woken are those with ready == never before.
  void arrive(Warp& warp, const Instr& instr, std::uint32_t mask, std::uint32_t barrier,
              std::uint32_t threads, Reduction reduction, std::uint32_t predicate, bool waits);
  void lanes_exited(Warp& warp);

  // The block that a shared address means: 0 in the bits above its offset is this one, n the one of
  // rank n - 1 in the cluster; null if that has ended.
  Block* peer(std::uint32_t selector);
  std::uint32_t rank() const { return rank_; }
  void join(std::shared_ptr<Cluster> cluster, std::uint32_t rank);
  Cluster* cluster() { return cluster_.get(); }
  void leave_cluster();
  void note_woken(Warp& warp);
  // Dependent grids need not wait for this block any more.
  void trigger_dependents(std::uint64_t cycle);

  std::string name() const;                             // "(0,0,1)"
  std::string thread_name(std::uint32_t thread) const;  // "(31,0,0)"

  RegisterPool registers;
  std::unique_ptr<std::byte[]> shared;
  std::uint32_t shared_bytes = 0;
  std::unique_ptr<SharedShadow> shadow;  // null: not checked
  // Something that may order accesses to shared memory has happened.
  void order() {
    if (shadow != nullptr) shadow->order();
  }
  std::vector<Warp*> woken;  // since the scheduler last looked

 private:
  struct Waiter {
    Warp* warp;
    const Instr* instr;
    std::uint32_t mask;
  };
  struct Barrier {
    std::vector<std::uint32_t> lanes;  // arrived, by warp
    std::uint32_t threads = 0;         // as given
    bool used = false;
    std::uint32_t popc = 0;
    std::uint32_t voters = 0;
    Reduction reduction = Reduction::none;
    std::vector<Waiter> waiters;
  };
  std::uint32_t launch_registers() const;
  void fill_specials(Warp& warp);
  std::uint32_t value_of(Special special, std::uint32_t lane, const Warp& warp) const;
  void complete_if_full(std::uint32_t number);

  Grid& grid_;
  std::uint64_t linear_;
  std::uint32_t sm_;
  Dim at_;
  std::uint32_t live_warps_ = 0;
  bool triggered_ = false;
  std::shared_ptr<Cluster> cluster_;  // null: alone
  std::uint32_t rank_ = 0;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::array<Barrier, 16> barriers_;
};

}  // namespace emulator
