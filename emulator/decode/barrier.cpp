// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// bar barrier: of the block and of the warp.
#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"
#include "emulator/machine/block.h"
#include "emulator/machine/fault.h"

namespace emulator {
namespace {

using U32 = std::uint32_t;

void warp_sync(Warp& w, const Instr& i, U32 mask) {
  w.converge(i, lane_of<U32>(w, i.d, std::countr_zero(mask)), mask);
}

// a: barrier, b: threads or none, c: predicate of a reduction.
template <bool waits>
void block_barrier(Warp& w, const Instr& i, U32 mask) {
  const int lane = std::countr_zero(mask);
  const U32 number = lane_of<U32>(w, i.a, lane);
  const U32 threads = i.b == -1 ? 0 : lane_of<U32>(w, i.b, lane);
  if (number >= 16) w.fail(cudaErrorIllegalInstruction, i, lane, "a barrier above 15");
  U32 bits = i.c == -1 ? 0 : predicate(w, i.c);
  if (i.negated) bits = ~bits;
  w.block().arrive(w, i, mask, number, threads, static_cast<Reduction>(i.mode), bits, waits);
}

void cluster_arrive(Warp& w, const Instr&, U32 mask) {
  if (w.block().cluster() != nullptr) w.block().cluster()->arrive(w, mask);
}
void cluster_wait(Warp& w, const Instr&, U32 mask) {
  if (w.block().cluster() != nullptr) w.block().cluster()->wait(w, mask);
}

}  // namespace

void decode_barrier(Builder& b) {
  Instr& out = b.out;
  out.op_class = OpClass::barrier;
  if (b.in.has("cluster")) {
    out.run = b.in.has("arrive") ? cluster_arrive : cluster_wait;
    return;
  }
  if (b.in.has("warp")) {
    out.d = b.use(b.operand(0), 4);
    out.run = warp_sync;
    return;
  }
  std::size_t at = 0;
  if (b.in.has("red")) {
    out.mode = static_cast<std::uint8_t>(b.in.has("popc")  ? Reduction::popc
                                         : b.in.has("and") ? Reduction::all
                                                           : Reduction::any);
    const ptx::Operand& dst = b.operand(at++);
    out.dst = b.in.has("popc") ? b.def(dst, 4) : b.def_predicate(dst);
    const ptx::Operand& predicate = b.in.operands.back();
    out.c = b.use_predicate(predicate);
    out.negated = predicate.negated;
  }
  out.a = b.use(b.operand(at++), 4);
  const std::size_t end = b.operands() - (b.in.has("red") ? 1 : 0);
  if (at < end) out.b = b.use(b.operand(at), 4);
  out.run = b.in.has("arrive") ? block_barrier<false> : block_barrier<true>;
}

}  // namespace emulator
