// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <vector>

#include "emulator/machine/block.h"
#include "emulator/machine/chip.h"
#include "emulator/machine/memory.h"
#include "emulator/machine/memory_model.h"

namespace emulator {

// Picoseconds of virtual time since the process began, the same for host and devices.
using Time = std::int64_t;
inline constexpr Time no_time = INT64_MAX;
// Pipes are busy for multiples of 1 / cycle_parts.
inline constexpr int cycle_part_bits = 20;
inline constexpr double cycle_parts = 1 << cycle_part_bits;

// Whether instructions take the chip's time. If off, each warp takes turns of one cycle per
// instruction: results without a timing model.
enum class ClockModel : std::uint8_t { timed, off };
// By the variable WARPMETER_EMULATED_CLOCK: "off" or not set. Throws std::runtime_error.
ClockModel the_clock_model();

// One emulated GPU: places blocks on SMs and lets their warps issue, in the order of virtual time.
class Device {
 public:
  Device(const Chip& chip, int ordinal, Links& links);

  const Chip& chip() const { return chip_; }
  int ordinal() const { return ordinal_; }
  MemoryModel& model() { return model_; }

  // Queues a grid whose blocks may start at `begin`. `ended` is called with the time of its end.
  void launch(std::shared_ptr<Grid> grid, Time begin, std::function<void(Grid&, Time)> ended);
  bool idle() const { return grids_.empty(); }
  Time next_time() const;
  // Issues instructions up to `limit` or until a grid has ended; at most `steps`. Throws Fault.
  void advance(Time limit, int steps);
  // Ends all grids without their results, after a fault.
  void abort();
  std::string positions() const;  // of all resident warps

  // Device loads of host memory see what the host has written until now, so they end no earlier.
  void set_host_time(Time time) { host_time_ = time; }

  int blocks_per_sm(const Program& program, std::uint64_t threads, std::uint64_t shared) const;
  std::uint64_t sm_clock(std::uint32_t sm, std::uint64_t cycle) const;
  std::uint64_t global_timer(std::uint64_t cycle) const;  // ns
  std::uint64_t cycles_of_ns(std::uint64_t ns) const;
  std::uint64_t cycle_of(Time time) const;  // the first not before
  Time time_of(std::uint64_t cycle) const;
  std::uint32_t visible_sm(std::uint32_t sm) const;
  std::uint32_t visible_sms() const;
  bool can_access(const Allocation& allocation) const;
  // Runs `action` at a cycle, before the instructions of that cycle.
  void at(std::uint64_t cycle, std::function<void()> action);
  void note_woken(Block& block) { woken_blocks_.push_back(&block); }
  std::set<int> peers;  // ordinals of devices whose memory this one may address

 private:
  // A warp's next instruction, as its scheduler sees it.
  struct Slot {
    std::uint64_t ready = never;  // when its operands are
    Warp* warp = nullptr;
    Pipe pipe = Pipe::alu;
  };
  struct Scheduler {
    std::vector<Slot> slots;
    std::array<std::uint64_t, pipes> pipe_free{};   // in parts of a cycle
    std::array<std::uint64_t, pipes> pipe_cycle{};  // the same, rounded up
    std::uint64_t next_issue = 0;
    std::uint64_t next = never;  // when the chosen slot issues
    std::size_t chosen = 0;
    std::size_t last = 0;    // that issued
    std::size_t asleep = 0;  // slots that are never ready
  };
  struct Cost {
    std::uint64_t latency = 0;   // cycles
    std::uint64_t interval = 0;  // parts of a cycle
    double work_per_cycle = 1;   // of the tensor pipe
  };
  struct Sm {
    std::array<Scheduler, 4> schedulers;
    std::vector<std::shared_ptr<Block>> blocks;
    std::int64_t block_count = 0;
    std::uint64_t threads = 0;
    std::uint64_t shared = 0;
    std::uint64_t lsu_free = 0;
    std::uint32_t lsu_last = 0;  // the scheduler that used the load/store unit
  };
  struct Action {
    std::uint64_t cycle;
    std::uint64_t order;
    std::function<void()> run;
    bool operator<(const Action& other) const {
      return cycle != other.cycle ? cycle > other.cycle : order > other.order;
    }
  };
  struct Running {
    std::shared_ptr<Grid> grid;
    std::function<void(Grid&, Time)> ended;
    std::chrono::steady_clock::time_point wall_begin;
    bool started = false;
  };

  void place_blocks(std::uint64_t now);
  void place_in_order(std::uint64_t now);
  bool place_cluster(Grid& grid, std::uint64_t now);
  Sm* find_room(const Grid& grid);
  void start_block(Grid& grid, std::shared_ptr<Block> block, std::uint64_t now);
  std::uint64_t next_cycle() const;
  void wake_all(std::uint64_t now);
  std::uint32_t in_turn(std::uint32_t index, std::uint64_t cycle) const;
  std::uint64_t others_next(std::uint32_t index) const;
  int issue(std::uint32_t index, int steps);
  bool may_go_on(const Scheduler& scheduler) const;
  void issue_turn(Scheduler& scheduler, Warp& warp);
  void count(const Warp& warp, const Instr& instr);
  void account(Sm& sm, std::uint32_t index, Scheduler& scheduler, Warp& warp, const Instr& instr);
  void update_slot(Scheduler& scheduler, std::size_t slot);
  std::uint64_t result_time(Sm& sm, std::uint32_t index, Warp& warp, const Instr& instr);
  void wait_for_operands(Warp& warp);
  void choose(std::uint32_t index, std::uint64_t after);
  void choose_all(std::uint32_t sm, std::uint64_t after);
  void wake(Block& block, std::uint64_t now);
  static void remove_done(Scheduler& scheduler);
  void retire(Sm& sm, Block& block, std::uint64_t now);
  void check_limits(std::uint64_t cycle);
  std::uint64_t last_cycle_at(Time time) const;
  void set_next(std::uint32_t index, std::uint64_t cycle);

  const Chip& chip_;
  int ordinal_;
  MemoryModel model_;
  double ps_per_cycle_;
  ClockModel clock_;
  std::array<Cost, op_classes> costs_;
  std::vector<Sm> sms_;
  std::vector<std::uint64_t> tree_;  // minimum of the schedulers' next cycles
  std::size_t leaves_ = 1;
  std::uint64_t until_ = 0;  // something else happens at this cycle
  std::uint64_t ahead_ = 0;  // instructions that stay in their warp may issue before it
  bool all_placed_ = true;   // no block waits for an SM
  std::deque<Running> grids_;
  Time host_time_ = 0;
  std::uint64_t steps_ = 0;
  bool grid_ended_ = false;
  std::priority_queue<Action> actions_;
  std::uint64_t action_count_ = 0;
  std::vector<Block*> woken_blocks_;
};

}  // namespace emulator
