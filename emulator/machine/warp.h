// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <driver_types.h>

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/machine/matrix_results.h"
#include "emulator/machine/program.h"

namespace emulator {

class Block;

inline constexpr std::uint32_t all_lanes = 0xffffffffu;
inline constexpr std::uint64_t never = ~std::uint64_t{0};

// Lanes that wait while others of their warp run.
struct Split {
  enum class State : std::uint8_t { runnable, converging, barrier };
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  State state = State::runnable;
  std::uint32_t wanted = 0;   // converging: the lanes that it waits for
  std::uint32_t barrier = 0;  // barrier: its number
};

// What an instruction did to memory, for the clock model.
struct Access {
  ptx::Space space = ptx::Space::generic;  // generic: none
  std::uint32_t mask = 0;
  std::uint32_t bytes = 0;  // per lane
  bool on_host = false;
  int device = 0;  // owner of global memory
  std::array<std::uint64_t, 32> address;
};

// Copies by cp.async that end together. Their bytes were read when they were issued, and appear in
// shared memory when the warp has waited, not before.
struct AsyncGroup {
  struct Copy {
    std::byte* to;
    std::uint32_t bytes;
    std::array<std::byte, 16> data;
  };
  std::vector<Copy> copies;
  std::uint64_t done = 0;  // cycle
};

// 32 lanes with a program counter each. Lanes with the same counter run together; of several
// groups ("splits") the one with the lowest counter runs, because code behind a branch comes later.
class Warp {
 public:
  Warp(Block& block, std::uint32_t index, std::uint32_t lanes);

  const Program& program() const { return *program_; }
  Block& block() const { return *block_; }
  std::uint32_t index() const { return index_; }
  bool done() const { return live == 0; }
  bool waiting() const { return live != 0 && active == 0; }

  // Executes the next instruction of the running split.
  const Instr& step() {
    const Instr& instr = code_[pc++];
    std::uint32_t mask = active;
    if (instr.guard >= 0) {
      const std::uint32_t guard = *reinterpret_cast<const std::uint32_t*>(file + instr.guard);
      mask &= instr.guard_negated ? ~guard : guard;
    }
    executed = mask;
    if (mask != 0 || instr.op_class == OpClass::branch) instr.run(*this, instr, mask);
    if (pc >= switch_pc) reschedule();
    return instr;
  }
  const Instr& next() const { return code_[pc]; }

  // Of the running lanes, `taken` go to `target`.
  void branch(std::uint32_t taken, std::uint32_t target);
  // Each lane of `mask` goes to its own target.
  void scatter(std::uint32_t mask, const std::uint32_t* targets);
  void exit(std::uint32_t mask);
  // True if all live lanes of `members` run this instruction together. Else these lanes wait, and
  // come back to the instruction later.
  bool converge(const Instr& instr, std::uint32_t members, std::uint32_t mask);
  void wait_at_barrier(std::uint32_t mask, std::uint32_t barrier);
  void release_barrier(std::uint32_t barrier);
  // Lets other splits of this warp have a turn: after sleeping or spinning for long.
  void rotate();

  std::string position() const;  // "warp 3: line 120 (lanes ffffffff)", for hang reports
  std::string where(const Instr& instr, int lane) const;  // for messages
  [[noreturn]] void fail(cudaError_t code, const Instr& instr, int lane, const std::string& what);

  std::byte* file = nullptr;
  std::uint32_t pc = 0;
  std::uint32_t active = 0;
  std::uint32_t live = 0;
  std::uint32_t switch_pc = never_pc;
  std::uint32_t executed = 0;
  std::uint32_t carry = 0;                  // condition code, a bit per lane
  std::byte* local = nullptr;               // 32 frames of Program::local_bytes
  std::vector<std::uint8_t> local_written;  // a bit per byte of them; empty: not checked
  Access access;

  // Of the clock model.
  std::uint64_t now = 0;    // cycle at which the running instruction issued
  std::uint64_t ready = 0;  // earliest cycle of the next instruction, whose pipe is:
  Pipe next_pipe = Pipe::alu;
  std::uint8_t scheduler = 0;  // of its SM
  std::uint64_t sleep_until = 0;
  std::uint64_t wait_until = 0;  // of a wait for asynchronous copies
  std::uint64_t stores_done = 0;
  std::vector<AsyncGroup> async_groups{1};  // the last one is open
  std::vector<AsyncGroup> bulk_groups{1};   // likewise, of bulk copies to global memory
  std::uint32_t thread_registers = 0;       // that setmaxnreg changes; 0: unknown
  MatrixResults matrix_results;             // of wgmma
  std::uint32_t cluster_lanes = 0;          // arrived at the cluster's barrier
  std::uint32_t cluster_phase = 0;          // in which they did
  std::vector<std::uint64_t> register_ready;
  std::vector<std::vector<std::byte>> call_stacks;  // of each lane, once a function has recursed
  std::uint64_t issued = 0;

 private:
  static constexpr std::uint32_t never_pc = ~std::uint32_t{0};
  void park(Split split);
  void pick();
  void reschedule();
  void update_switch();
  void check_converging();

  Block* block_;
  const Program* program_;
  const Instr* code_;
  std::uint32_t index_;
  std::uint32_t back_branches_ = 0;
  bool exclusive_ = false;  // the running split was chosen by rotate()
  std::vector<Split> parked_;
  std::unique_ptr<std::byte[]> storage_;
  std::unique_ptr<std::byte[]> local_storage_;
};

}  // namespace emulator
