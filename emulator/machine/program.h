// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/machine/checks.h"
#include "emulator/machine/memory.h"
#include "emulator/machine/op_class.h"
#include "emulator/ptx/module.h"

namespace emulator {

class Warp;
struct Instr;
// Executes one instruction for the lanes in `mask`. The program counter is already at the next one.
using Handler = void (*)(Warp& warp, const Instr& instr, std::uint32_t mask);

enum class CacheOp : std::uint8_t { all, global, streaming, last_use, volatile_, write_through };

// A decoded instruction. Operands are byte offsets into the warp's register file, in which
// constants and special registers have places too; -1: none.
struct Instr {
  Handler run = nullptr;
  std::int32_t dst = -1;
  std::int32_t dst2 = -1;
  std::int32_t a = -1;
  std::int32_t b = -1;
  std::int32_t c = -1;
  std::int32_t d = -1;
  std::int32_t guard = -1;
  bool guard_negated = false;
  bool wide_dst = false;     // 64-bit register, where the type alone does not say so
  bool wide_src = false;     // likewise for operand a
  bool wide_address = true;  // 64-bit address register
  bool negated = false;      // predicate operand c or a is negated
  bool is_signed = false;    // sign-extend what was loaded
  ptx::Space space = ptx::Space::generic;
  CacheOp cache = CacheOp::all;
  Effect effect = Effect::other;
  OpClass op_class = OpClass::alu;
  Pipe pipe = Pipe::alu;     // of the class; set when the program is finished
  bool alone = false;        // likewise: see stays_in_warp()
  std::uint8_t bytes = 0;    // of one element in memory
  std::uint8_t count = 1;    // elements of a vector
  std::uint8_t mode = 0;     // meaning belongs to the handler
  std::uint32_t target = 0;  // branch
  std::int64_t offset = 0;   // of an address
  double work = 0;           // of mma: multiply-adds
  std::uint32_t extra = 0;   // first of the operands in Program::extra
  std::uint32_t reads = 0;   // first of `read_count` registers in Program::scoreboard, then writes
  std::uint16_t read_count = 0;
  std::uint16_t write_count = 0;
  std::uint32_t line = 0;
  std::string_view opcode;
  // The allocation that this instruction touched last.
  mutable const Allocation* hint = nullptr;
  mutable std::uint64_t hint_generation = 0;
};

// Nothing outside of its warp sees or changes what the instruction does, whenever it issues.
bool stays_in_warp(const Instr& instr);

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  zero,
  local_base,
  param_base,
  // Read by an instruction of their own:
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  none
};

struct SpecialSlot {
  std::int32_t offset = 0;
  Special special = Special::zero;
  bool wide = false;
};

struct ParamSlot {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

// A function that is called through a pointer, and where it finds and leaves what it is passed.
struct Callable {
  std::uint64_t address = 0;
  std::string_view name;
  std::uint32_t entry = 0;
  std::int32_t return_slot = -1;
  std::vector<ParamSlot> params;  // in local memory
  std::vector<ParamSlot> results;
};

// Registers and local memory of all functions, which a recursive call must keep.
struct SavedState {
  struct Register {
    std::int32_t offset;
    std::uint32_t bytes;  // of a lane; 0: a predicate
  };
  std::vector<Register> registers;
  std::vector<ParamSlot> locals;
  std::uint32_t bytes = 0;  // of a lane
};

// A kernel with all functions that it calls, decoded for one device.
struct Program {
  std::string name;
  std::vector<Instr> code;
  std::vector<std::int32_t> extra;
  std::vector<std::uint16_t> scoreboard;
  std::vector<std::byte> constants;  // copied into each warp's file at `constants_at`
  std::int32_t constants_at = 0;
  std::vector<SpecialSlot> specials;
  std::int32_t file_bytes = 0;
  std::uint32_t entry = 0;      // first instruction
  std::uint32_t registers = 0;  // scoreboard entries
  std::vector<ParamSlot> params;
  std::uint32_t param_bytes = 0;
  std::uint32_t local_bytes = 0;   // per thread
  std::uint32_t shared_bytes = 0;  // static
  std::uint32_t max_threads = 1024;
  std::uint32_t max_registers = 0;  // of a thread, as .maxnreg gives it; 0: not given
  std::uint32_t min_blocks = 0;     // on an SM, if .maxntid is given
  bool required_size = false;
  std::uint32_t required[3] = {0, 0, 0};
  std::uint32_t cluster[3] = {0, 0, 0};
  std::vector<std::uint32_t> jump_table;  // of brx.idx
  std::vector<Callable> callables;
  SavedState saved;
  std::vector<std::string> texts;  // of messages
};

}  // namespace emulator
