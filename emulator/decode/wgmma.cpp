// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// wgmma: products of a warpgroup, of which each warp computes its 16 of 64 rows. With g = lane / 4,
// t = lane % 4 and E elements to a register: register r of A holds row g + 8 (r & 1), columns t E +
// 4 E (r >> 1) and following; of 32-bit D row g + 8 (r >> 1 & 1), column 8 (r >> 2) + 2 t + (r &
// 1); of packed D row g + 8 (r & 1), columns 8 (r >> 1) + 2 t and the next.
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "emulator/decode/elements.h"
#include "emulator/decode/shared_matrix.h"
#include "emulator/machine/block.h"
#include "emulator/machine/device.h"
#include "emulator/machine/fault.h"

namespace emulator {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using elements::Bf16;
using elements::E4m3;
using elements::E5m2;
using elements::F16;
using elements::F16Sum;
using elements::F32Sum;
using elements::S32Saturated;
using elements::S32Sum;
using elements::S8;
using elements::Tf32;
using elements::U8;

// Bits of Instr::mode.
constexpr std::uint8_t a_in_registers = 1;
constexpr std::uint8_t negates_a = 2;
constexpr std::uint8_t negates_b = 4;
constexpr std::uint8_t transposes_a = 8;  // M-major
constexpr std::uint8_t transposes_b = 16;

// First of Program::extra; the registers of D follow. a[0] is the descriptor if A is in memory.
struct Operands {
  std::int32_t a[4];
  std::int32_t b;
  std::int32_t keeps;  // predicate: add to D
};
constexpr std::size_t fixed_operands = sizeof(Operands) / sizeof(std::int32_t);

template <typename A, typename T>
using Left = std::array<std::array<T, depth<A>>, 16>;

template <typename A, typename T>
void read_left(Warp& w, const Instr& i, const Operands& p, Left<A, T>& left) {
  const bool negative = (i.mode & negates_a) != 0;
  const auto put = [&](U32 row, U32 k, auto value) {
    left[row][k] = static_cast<T>(negative ? -value : value);
  };
  if ((i.mode & a_in_registers) == 0) {
    const bool transposed = (i.mode & transposes_a) != 0;
    const SharedMatrix matrix(lane_of<U64>(w, p.a[0], std::countr_zero(w.active)), transposed);
    read_matrix<A>(w, i, matrix, transposed, 16 * (w.index() % 4), 16, put);
    return;
  }
  constexpr U32 per_register = 32 / A::bits;
  for (U32 l = 0; l < 32; ++l) {
    for (U32 r = 0; r < 4; ++r) {
      const U32 bits = lane_of<U32>(w, p.a[r], static_cast<int>(l));
      const U32 column = l % 4 * per_register + 4 * per_register * (r >> 1);
      for (U32 e = 0; e < per_register; ++e) {
        put(l / 4 + 8 * (r & 1), column + e, A::value(bits >> (e * A::bits % 32)));
      }
    }
  }
}

// Calls f(value of register r in lane l, sum) for each element of D; the value is a reference.
template <typename Sum, typename T, typename F>
void for_sums(U32 n, std::array<std::array<T, 256>, 16>& sum, F&& f) {
  const U32 registers = Sum::packed ? n / 4 : n / 2;
  for (U32 r = 0; r < registers; ++r) {
    for (U32 l = 0; l < 32; ++l) {
      const U32 row = l / 4 + 8 * (Sum::packed ? r & 1 : r >> 1 & 1);
      const U32 column = 8 * (Sum::packed ? r >> 1 : r >> 2) + 2 * (l % 4);
      f(r, l, &sum[row][Sum::packed ? column : column + (r & 1)]);
    }
  }
}

template <typename A, typename B, typename Sum>
void multiply(Warp& w, const Instr& i, U32 mask) {
  using T = decltype(Sum::load(0));
  if (!w.converge(i, all_lanes & w.live, mask)) return;
  if (!w.matrix_results.fenced || mask != all_lanes ||
      w.block().warps().size() < w.index() / 4 * 4 + 4) {
    w.fail(cudaErrorIllegalInstruction, i, std::countr_zero(mask),
           !w.matrix_results.fenced ? "no wgmma.fence before the first product"
                                    : "wgmma needs whole groups of four warps");
  }
  const U32 n = i.target;
  Operands p;
  std::memcpy(&p, &w.program().extra[i.extra], sizeof p);
  const std::int32_t* d = &w.program().extra[i.extra + fixed_operands];
  static thread_local Left<A, T> left;
  static thread_local std::array<std::array<T, 256>, depth<A>> right;
  static thread_local std::array<std::array<T, 256>, 16> sum;
  read_left<A, T>(w, i, p, left);
  const bool transposed = (i.mode & transposes_b) != 0;
  const bool negative = (i.mode & negates_b) != 0;
  read_matrix<B>(w, i, SharedMatrix(lane_of<U64>(w, p.b, 0), transposed), transposed, 0, n,
                 [&](U32 column, U32 k, auto value) {
                   right[k][column] = static_cast<T>(negative ? -value : value);
                 });
  const bool keeps = p.keeps == -1 ? i.offset != 0 : (predicate(w, p.keeps) & 1) != 0;
  for_sums<Sum>(n, sum, [&](U32 r, U32 l, T* at) {
    const MatrixResults::Lanes* pending = w.matrix_results.find(d[r]);
    const U32 bits = !keeps               ? 0
                     : pending != nullptr ? (*pending)[l]
                                          : lane_of<U32>(w, d[r], static_cast<int>(l));
    at[0] = Sum::load(bits);
    if constexpr (Sum::packed) at[1] = Sum::load(bits >> 16);
  });
  for (U32 row = 0; row < 16; ++row) {
    for (U32 k = 0; k < depth<A>; ++k) {
      const T factor = left[row][k];
#pragma GCC ivdep
      for (U32 column = 0; column < n; ++column) sum[row][column] += factor * right[k][column];
    }
  }
  for_sums<Sum>(n, sum, [&](U32 r, U32 l, const T* at) {
    U32 bits = Sum::store(at[0]);
    if constexpr (Sum::packed) bits |= Sum::store(at[1]) << 16;
    w.matrix_results.add(d[r])[l] = bits;
  });
  const Chip& chip = w.block().grid().device->chip();
  const Chip::Timing& timing = chip.timing[static_cast<std::size_t>(i.op_class)];
  w.matrix_results.note(w.now +
                        static_cast<U64>(std::ceil(i.work / timing.interval + timing.latency)));
}

void fence(Warp& w, const Instr&, U32) { w.matrix_results.fenced = true; }
void commit(Warp& w, const Instr&, U32) { w.matrix_results.commit(); }
void wait(Warp& w, const Instr& i, U32) {
  w.wait_until =
      std::max(w.wait_until, w.matrix_results.wait(static_cast<std::size_t>(i.offset), w.file));
}

struct Row {
  std::string_view d;
  std::string_view a;
  std::string_view b;
  OpClass op_class;
  Handler run;
};
constexpr Row rows[] = {
    {"f32", "f16", "f16", OpClass::wgmma_f16, multiply<F16, F16, F32Sum>},
    {"f16", "f16", "f16", OpClass::wgmma_f16, multiply<F16, F16, F16Sum>},
    {"f32", "bf16", "bf16", OpClass::wgmma_f16, multiply<Bf16, Bf16, F32Sum>},
    {"f32", "tf32", "tf32", OpClass::wgmma_tf32, multiply<Tf32, Tf32, F32Sum>},
    {"f32", "e4m3", "e4m3", OpClass::wgmma_fp8, multiply<E4m3, E4m3, F32Sum>},
    {"f32", "e4m3", "e5m2", OpClass::wgmma_fp8, multiply<E4m3, E5m2, F32Sum>},
    {"f32", "e5m2", "e4m3", OpClass::wgmma_fp8, multiply<E5m2, E4m3, F32Sum>},
    {"f32", "e5m2", "e5m2", OpClass::wgmma_fp8, multiply<E5m2, E5m2, F32Sum>},
    {"f16", "e4m3", "e4m3", OpClass::wgmma_fp8, multiply<E4m3, E4m3, F16Sum>},
    {"f16", "e4m3", "e5m2", OpClass::wgmma_fp8, multiply<E4m3, E5m2, F16Sum>},
    {"f16", "e5m2", "e4m3", OpClass::wgmma_fp8, multiply<E5m2, E4m3, F16Sum>},
    {"f16", "e5m2", "e5m2", OpClass::wgmma_fp8, multiply<E5m2, E5m2, F16Sum>},
    {"s32", "s8", "s8", OpClass::wgmma_int8, multiply<S8, S8, S32Sum>},
    {"s32", "s8", "u8", OpClass::wgmma_int8, multiply<S8, U8, S32Sum>},
    {"s32", "u8", "s8", OpClass::wgmma_int8, multiply<U8, S8, S32Sum>},
    {"s32", "u8", "u8", OpClass::wgmma_int8, multiply<U8, U8, S32Sum>},
};
constexpr Row saturating_rows[] = {
    {"s32", "s8", "s8", OpClass::wgmma_int8, multiply<S8, S8, S32Saturated>},
    {"s32", "s8", "u8", OpClass::wgmma_int8, multiply<S8, U8, S32Saturated>},
    {"s32", "u8", "s8", OpClass::wgmma_int8, multiply<U8, S8, S32Saturated>},
    {"s32", "u8", "u8", OpClass::wgmma_int8, multiply<U8, U8, S32Saturated>},
};

const Row* find_row(std::span<const Row> from, std::string_view d, std::string_view a,
                    std::string_view b) {
  for (const Row& row : from) {
    if (row.d == d && row.a == a && row.b == b) return &row;
  }
  return nullptr;
}

std::int32_t descriptor(Builder& b, const ptx::Operand& operand) {
  if (!b.wide(operand)) b.unsupported("a descriptor is a 64-bit register");
  return b.use(operand, 8);
}

// imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b: as many as there are.
void decode_immediates(Builder& b, std::size_t at) {
  Instr& out = b.out;
  const auto flag = [&](std::uint64_t when, std::uint8_t bit) {
    if (at < b.operands() && b.immediate(b.operand(at++)) == when) out.mode |= bit;
  };
  flag(~std::uint64_t{0}, negates_a);
  flag(~std::uint64_t{0}, negates_b);
  if ((out.mode & a_in_registers) == 0) flag(1, transposes_a);
  flag(1, transposes_b);
}

}  // namespace

void decode_wgmma(Builder& b) {
  Instr& out = b.out;
  out.op_class = OpClass::move;
  if (b.in.has("fence")) {
    out.run = fence;
    return;
  }
  if (b.in.has("commit_group")) {
    out.run = commit;
    return;
  }
  if (b.in.has("wait_group")) {
    out.offset = static_cast<std::int64_t>(b.immediate(b.operand(0)));
    out.run = wait;
    return;
  }
  // wgmma.mma_async.sync.aligned.m64nNkK{.satfinite}.dtype.atype.btype
  const auto& parts = b.in.parts;
  if (b.in.has("sp") || b.in.has("sp::ordered_metadata") || parts.size() < 8) b.unsupported();
  const bool saturates = b.in.has("satfinite");
  const Row* row = find_row(saturates ? std::span<const Row>(saturating_rows) : rows,
                            parts[parts.size() - 3], parts[parts.size() - 2], parts.back());
  const std::string_view shape = parts[4];
  if (row == nullptr || !shape.starts_with("m64n")) b.unsupported();
  std::from_chars(shape.data() + 4, shape.data() + shape.size(), out.target);
  const std::size_t registers = row->d == "f16" ? out.target / 4 : out.target / 2;
  const ptx::Operand& d = b.operand(0);
  if (out.target % 8 != 0 || out.target == 0 || out.target > 256 || d.parts.size() != registers) {
    b.unsupported("shape");
  }
  Operands p{{-1, -1, -1, -1}, -1, -1};
  const ptx::Operand& a = b.operand(1);
  if (a.kind == ptx::OperandKind::vector) {
    if (a.parts.size() != 4) b.unsupported("A has four registers");
    out.mode |= a_in_registers;
    for (std::size_t r = 0; r < 4; ++r) p.a[r] = b.use(a.parts[r], 4);
  } else {
    p.a[0] = descriptor(b, a);
  }
  p.b = descriptor(b, b.operand(2));
  const ptx::Operand& keeps = b.operand(3);
  if (b.is_register(keeps)) {
    p.keeps = b.use_predicate(keeps);
  } else {
    out.offset = b.immediate(keeps) != 0 ? 1 : 0;
  }
  decode_immediates(b, 4);
  std::vector<std::int32_t> places(fixed_operands);
  std::memcpy(places.data(), &p, sizeof p);
  // The sums come without the scoreboard's knowledge; what was written before must be there.
  for (const ptx::Operand& part : d.parts) places.push_back(b.use(part, 4));
  out.extra = b.extra(places);
  out.op_class = row->op_class;
  out.work = 16.0 * out.target *
             (row->a == "tf32"                      ? 8
              : row->op_class == OpClass::wgmma_f16 ? 16
                                                    : 32);
  out.run = row->run;
}

}  // namespace emulator
