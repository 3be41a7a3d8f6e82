// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// bra brx ret exit trap brkpt nanosleep membar fence pmevent griddepcontrol setmaxnreg.
#include "emulator/decode/control.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"
#include "emulator/machine/block.h"
#include "emulator/machine/device.h"
#include "emulator/machine/fault.h"

namespace emulator {

Special find_special(std::string_view name) {
  static constexpr std::pair<std::string_view, Special> names[] = {
      {"%tid.x", Special::tid_x},
      {"%tid.y", Special::tid_y},
      {"%tid.z", Special::tid_z},
      {"%ntid.x", Special::ntid_x},
      {"%ntid.y", Special::ntid_y},
      {"%ntid.z", Special::ntid_z},
      {"%ctaid.x", Special::ctaid_x},
      {"%ctaid.y", Special::ctaid_y},
      {"%ctaid.z", Special::ctaid_z},
      {"%nctaid.x", Special::nctaid_x},
      {"%nctaid.y", Special::nctaid_y},
      {"%nctaid.z", Special::nctaid_z},
      {"%laneid", Special::laneid},
      {"%warpid", Special::warpid},
      {"%nwarpid", Special::nwarpid},
      {"%smid", Special::smid},
      {"%nsmid", Special::nsmid},
      {"%gridid", Special::gridid},
      {"%lanemask_eq", Special::lanemask_eq},
      {"%lanemask_le", Special::lanemask_le},
      {"%lanemask_lt", Special::lanemask_lt},
      {"%lanemask_ge", Special::lanemask_ge},
      {"%lanemask_gt", Special::lanemask_gt},
      {"%dynamic_smem_size", Special::dynamic_smem_size},
      {"%total_smem_size", Special::total_smem_size},
      {"%aggr_smem_size", Special::total_smem_size},
      {"%clusterid.x", Special::clusterid_x},
      {"%clusterid.y", Special::clusterid_y},
      {"%clusterid.z", Special::clusterid_z},
      {"%nclusterid.x", Special::nclusterid_x},
      {"%nclusterid.y", Special::nclusterid_y},
      {"%nclusterid.z", Special::nclusterid_z},
      {"%cluster_ctaid.x", Special::cluster_ctaid_x},
      {"%cluster_ctaid.y", Special::cluster_ctaid_y},
      {"%cluster_ctaid.z", Special::cluster_ctaid_z},
      {"%cluster_nctaid.x", Special::cluster_nctaid_x},
      {"%cluster_nctaid.y", Special::cluster_nctaid_y},
      {"%cluster_nctaid.z", Special::cluster_nctaid_z},
      {"%cluster_ctarank", Special::cluster_ctarank},
      {"%cluster_nctarank", Special::cluster_nctarank},
      {"%is_explicit_cluster", Special::is_explicit_cluster},
      {"%clock", Special::clock},
      {"%clock_hi", Special::clock_hi},
      {"%clock64", Special::clock64},
      {"%globaltimer", Special::globaltimer},
      {"%globaltimer_lo", Special::globaltimer_lo},
      {"%globaltimer_hi", Special::globaltimer_hi}};
  for (const auto& [text, special] : names) {
    if (text == name) return special;
  }
  return Special::none;
}

namespace control {

void exit_lanes(Warp& w, const Instr&, std::uint32_t mask) { w.exit(mask); }

void return_lanes(Warp& w, const Instr& i, std::uint32_t mask) {
  std::array<std::uint32_t, 32> targets;
  std::memcpy(targets.data(), w.file + i.a, sizeof targets);
  w.scatter(mask, targets.data());
}

void call(Warp& w, const Instr& i, std::uint32_t mask) {
  for_lanes(mask, [&](int l) { lane_of<std::uint32_t>(w, i.dst, l) = w.pc; });
  w.branch(mask, i.target);
}

void copy_local(Warp& w, const Instr& i, std::uint32_t mask) {
  const std::size_t frame = w.program().local_bytes;
  for_lanes(mask, [&](int l) {
    std::byte* base = w.local + static_cast<std::size_t>(l) * frame;
    std::memmove(base + i.target, base + i.offset, i.extra);
  });
}

}  // namespace control

namespace {

void branch(Warp& w, const Instr& i, std::uint32_t mask) { w.branch(mask, i.target); }

void branch_indexed(Warp& w, const Instr& i, std::uint32_t mask) {
  std::array<std::uint32_t, 32> targets{};
  for_lanes(mask, [&](int l) {
    targets[static_cast<std::size_t>(l)] =
        w.program().jump_table[i.extra + lane_of<std::uint32_t>(w, i.a, l)];
  });
  w.scatter(mask, targets.data());
}

void trap(Warp& w, const Instr& i, std::uint32_t mask) {
  w.fail(cudaErrorIllegalInstruction, i, std::countr_zero(mask), "trap");
}

void sleep(Warp& w, const Instr& i, std::uint32_t mask) {
  std::uint32_t longest = 0;
  for_lanes(mask, [&](int l) { longest = std::max(longest, lane_of<std::uint32_t>(w, i.a, l)); });
  const Device& device = *w.block().grid().device;
  w.sleep_until = w.now + device.cycles_of_ns(longest);
  w.rotate();
}

void release_registers(Warp& w, const Instr& i, std::uint32_t mask) {
  if (w.thread_registers != 0 && !w.block().registers.release(w, i.target)) {
    w.fail(cudaErrorIllegalInstruction, i, std::countr_zero(mask),
           fmt::format("a thread has only {} registers", w.thread_registers));
  }
}

void take_registers(Warp& w, const Instr& i, std::uint32_t mask) {
  if (w.thread_registers != 0 && !w.block().registers.take(w, i.target, mask)) {
    w.fail(cudaErrorIllegalInstruction, i, std::countr_zero(mask),
           fmt::format("a thread has {} registers already", w.thread_registers));
  }
}

void wait_for_prerequisite(Warp& w, const Instr&, std::uint32_t mask) {
  const auto& prerequisite = w.block().grid().prerequisite;
  if (prerequisite == nullptr || prerequisite->done) return;
  prerequisite->waiters.push_back(&w);
  w.wait_at_barrier(mask, Prerequisite::barrier_number);
}

void launch_dependents(Warp& w, const Instr&, std::uint32_t) {
  w.block().trigger_dependents(w.now);
}

void nothing(Warp&, const Instr&, std::uint32_t) {}

// Memory is always consistent here; the check for races must know.
void fence(Warp& w, const Instr&, std::uint32_t) { w.block().order(); }

}  // namespace

void decode_control(Builder& b) {
  const std::string_view base = b.in.base();
  Instr& out = b.out;
  out.op_class = OpClass::branch;
  if (base == "bra") {
    b.label(b.operand(0));
    out.run = branch;
  } else if (base == "brx") {
    out.a = b.use(b.operand(0), 4);
    out.extra = b.jump_table(b.operand(1).name);
    out.run = branch_indexed;
  } else if (base == "ret") {
    out.run = b.is_entry() ? control::exit_lanes : control::return_lanes;
  } else if (base == "exit") {
    out.run = control::exit_lanes;
  } else if (base == "trap" || base == "brkpt") {
    out.run = trap;
  } else if (base == "nanosleep") {
    out.a = b.use(b.operand(0), 4);
    out.op_class = OpClass::sleep;
    out.run = sleep;
  } else if (base == "membar" || base == "fence") {
    out.op_class = OpClass::fence;
    out.run = fence;
  } else if (base == "griddepcontrol") {
    out.op_class = OpClass::barrier;
    out.run = b.in.has("wait") ? wait_for_prerequisite : launch_dependents;
  } else if (base == "setmaxnreg") {
    out.op_class = OpClass::barrier;
    out.target = static_cast<std::uint32_t>(b.immediate(b.operand(0)));
    if (out.target % 8 != 0 || out.target < 24 || out.target > 256) b.unsupported("24 to 256");
    out.run = b.in.has("inc") ? take_registers : release_registers;
  } else {  // pmevent
    out.op_class = OpClass::move;
    out.run = nothing;
  }
}

}  // namespace emulator
