// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>

#include "emulator/decode/lanes.h"
#include "emulator/machine/fault.h"

// A of mma.sp: a half of the elements, and metadata that say where in their row they belong. One
// word describes a step of k (16 columns of 16-bit types, 8 of tf32) of rows g (low half) and g + 8
// in lane 4 g + step; of 8-bit types 32 columns of one row, in lanes 4 g + 2 step and the next. The
// selector counts steps that other instructions take.
namespace emulator {

// Operands of the sparse form.
struct Sparsity {
  std::int32_t metadata = -1;  // register
  int selector = 0;
};

// The column in its pair (tf32) or group of four of element `n` of a row's half.
template <int bits>
int sparse_column(Warp& w, const Instr& i, const Sparsity& s, int row, int n) {
  constexpr int per_step = bits == 8 ? 16 : bits == 16 ? 8 : 4;
  const int upper = row / 8;
  const int step = n / per_step;
  int lane = 4 * (row % 8);
  lane += bits == 8 ? 2 * (s.selector + step) + upper : s.selector + step;
  const std::uint32_t word =
      lane_of<std::uint32_t>(w, s.metadata, lane) >> (bits != 8 && upper != 0 ? 16 : 0);
  if constexpr (bits == 32) {
    const std::uint32_t index = word >> (4 * (n % per_step)) & 15;
    if (index != 0b0100 && index != 0b1110) {
      w.fail(cudaErrorIllegalInstruction, i, lane, "metadata of tf32 other than 0100 and 1110");
    }
    return index == 0b1110 ? 1 : 0;
  } else {
    const std::uint32_t pair = word >> (2 * (n % per_step) & ~3) & 15;
    if ((pair & 3) == pair >> 2) {
      w.fail(cudaErrorIllegalInstruction, i, lane, "metadata that name one element twice");
    }
    return static_cast<int>(n % 2 == 0 ? pair & 3 : pair >> 2);
  }
}

// Moves the first k / 2 columns to where they belong, zeros between them.
template <int bits, typename T>
void spread(Warp& w, const Instr& i, const Sparsity& s, int k,
            std::array<std::array<T, 64>, 16>& left) {
  constexpr int group = bits == 32 ? 2 : 4;
  for (int row = 0; row < 16; ++row) {
    const std::array<T, 64> packed = left[static_cast<std::size_t>(row)];
    std::array<T, 64>& full = left[static_cast<std::size_t>(row)];
    full.fill(T{});
    for (int n = 0; n < k / 2; ++n) {
      const int column = n / (group / 2) * group + sparse_column<bits>(w, i, s, row, n);
      full[static_cast<std::size_t>(column)] = packed[static_cast<std::size_t>(n)];
    }
  }
}

}  // namespace emulator
