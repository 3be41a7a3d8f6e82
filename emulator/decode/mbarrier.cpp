// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// mbarrier: init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait pending_count.
#include "emulator/decode/mbarrier.h"

#include <fmt/format.h>

#include "emulator/decode/access.h"
#include "emulator/decode/decoder.h"
#include "emulator/machine/fault.h"

namespace emulator {

ptx::Space access_space(const ptx::Instruction& in);

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U32 poll_cycles = 32;  // between two looks of try_wait

// Bits of Instr::mode.
constexpr std::uint8_t expects_bytes = 1;
constexpr std::uint8_t arrives = 2;
constexpr std::uint8_t drops = 4;
constexpr std::uint8_t completes_bytes = 8;
constexpr std::uint8_t parity = 16;
constexpr std::uint8_t blocks = 32;

// The barrier of each lane; changes of one lane are seen by the next.
template <typename F>
void for_barriers(Warp& w, const Instr& i, U32 mask, F&& f) {
  Pointers at;
  resolve(w, i, mask, at);
  w.access.bytes = 8;
  for_lanes(mask, [&](int l) {
    Mbarrier barrier = Mbarrier::load(at[static_cast<std::size_t>(l)]);
    f(barrier, l);
    barrier.store(at[static_cast<std::size_t>(l)]);
  });
}

void init(Warp& w, const Instr& i, U32 mask) {
  for_barriers(w, i, mask, [&](Mbarrier& barrier, int l) {
    barrier = Mbarrier{};
    barrier.expected = barrier.pending = lane_of<U32>(w, i.b, l) & 0xfffff;
  });
}

void inval(Warp& w, const Instr& i, U32 mask) {
  for_barriers(w, i, mask, [](Mbarrier& barrier, int) { barrier = Mbarrier{}; });
}

// b: arrivals (or none: 1), c: bytes (or none).
void arrive(Warp& w, const Instr& i, U32 mask) {
  for_barriers(w, i, mask, [&](Mbarrier& barrier, int l) {
    const Mbarrier before = barrier;
    const auto bytes = i.c == -1 ? 0 : lane_of<std::int32_t>(w, i.c, l);
    if (i.mode & expects_bytes) barrier.bytes += bytes;
    if (i.mode & completes_bytes) barrier.bytes -= bytes;
    if (i.mode & arrives) {
      const U32 count = i.b == -1 ? 1 : lane_of<U32>(w, i.b, l);
      if (count > barrier.pending) {
        w.fail(
            cudaErrorIllegalInstruction, i, l,
            fmt::format("{} arrivals at an mbarrier that expects {} more", count, barrier.pending));
      }
      barrier.pending -= count;
      if (i.mode & drops) barrier.expected -= count;
    }
    barrier.end_phase_if_complete();
    if (i.dst != -1) {
      U64 state = 0;
      std::byte packed[8];
      before.store(packed);
      std::memcpy(&state, packed, sizeof state);
      lane_of<U64>(w, i.dst, l) = state;
    }
  });
}

// b: the state that arrive returned, or the parity of the phase that is waited for.
void test(Warp& w, const Instr& i, U32 mask) {
  U32 done = 0;
  for_barriers(w, i, mask, [&](Mbarrier& barrier, int l) {
    const U32 phase = i.mode & parity ? lane_of<U32>(w, i.b, l) & 1
                                      : static_cast<U32>(lane_of<U64>(w, i.b, l) >> 63);
    if (barrier.phase != phase) done |= 1u << l;
  });
  set_predicate(w, i.dst, done, mask);
  if ((i.mode & blocks) && done != mask) w.wait_until = w.now + poll_cycles;
}

void pending_count(Warp& w, const Instr& i, U32 mask) {
  for_lanes(mask, [&](int l) {
    lane_of<U32>(w, i.dst, l) = static_cast<U32>(lane_of<U64>(w, i.a, l) >> 20 & 0xfffff);
  });
}

void decode_wait(Builder& b) {
  Instr& out = b.out;
  if (b.in.has("parity")) out.mode |= parity;
  if (b.in.has("try_wait")) out.mode |= blocks;
  out.dst = b.def_predicate(b.operand(0));
  b.address(b.operand(1));
  out.b = b.use(b.operand(2), b.in.has("parity") ? 4 : 8);
  out.run = test;
}

}  // namespace

void decode_mbarrier(Builder& b) {
  Instr& out = b.out;
  out.op_class = OpClass::load;
  out.space = access_space(b.in);
  out.bytes = 8;
  if (b.in.has("pending_count")) {
    out.op_class = OpClass::alu;
    out.dst = b.def(b.operand(0), 4);
    out.a = b.use(b.operand(1), 8);
    out.run = pending_count;
  } else if (b.in.has("init")) {
    b.address(b.operand(0));
    out.b = b.use(b.operand(1), 4);
    out.run = init;
  } else if (b.in.has("inval")) {
    b.address(b.operand(0));
    out.run = inval;
  } else if (b.in.has("test_wait") || b.in.has("try_wait")) {
    decode_wait(b);
  } else {
    const bool arrival = b.in.has("arrive") || b.in.has("arrive_drop");
    if (arrival) out.mode |= arrives;
    if (b.in.has("arrive_drop")) out.mode |= drops;
    if (b.in.has("expect_tx")) out.mode |= expects_bytes;
    if (b.in.has("complete_tx")) out.mode |= completes_bytes;
    std::size_t at = 0;
    if (arrival && b.operand(0).kind != ptx::OperandKind::address) {
      if (b.operand(0).kind != ptx::OperandKind::none) out.dst = b.def(b.operand(0), 8);
      at = 1;
    }
    b.address(b.operand(at));
    const bool bytes = (out.mode & (expects_bytes | completes_bytes)) != 0;
    if (b.operands() > at + 1) (bytes ? out.c : out.b) = b.use(b.operand(at + 1), 4);
    out.run = arrive;
  }
}

}  // namespace emulator
