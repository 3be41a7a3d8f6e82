// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "core/work.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// C[m, n] = sum over k of A[m, k] (q[n, k] - z[n, k / 128]) s[n, k / 128]: a linear layer whose
// weights are 4-bit numbers q with a factor s and a zero point z per group of 128 along k, as AWQ
// has them (Lin et al., arXiv:2306.00978); A, s, z and C of `type`, z a whole number from 0 to 15.
// Only the CUDA kernel exists.
//
// Layout. weights: half a byte each, rows of k / 2 bytes; k is a multiple of 128. The 64 bytes of a
// group are four pieces of 16 for the four lanes that share a row in mma.sync, each of four words:
// word j of piece t holds k = 32 j + 8 t + e, e = 0 ... 7, even e as its nibbles 0 to 3 and odd e
// as 4 to 7, so that a shift and a mask give two neighbours as two 16-bit numbers.
// groups [n, k / 128, 2]: s, then z.
//
// Work: 2 m n k operations of the products of A with q - z and n k of its differences, of type; per
// result and group a multiply-add by s in f32:
//   ops[type] = 2 m n k + n k    ops[f32] = 2 m n k / 128
//   bytes_read = m k e + n k / 2 + 2 e n k / 128    bytes_written = m n e    working_set = both
//
// Checked: as gemm.h, with the same tolerance: q - z and its products are exact, and s enters f32
// sums.
Work int4_gemm_work(const GemmShape& shape);

inline constexpr std::int64_t int4_group = 128;

// Where weight (n, k) stands: byte and the shift of its four bits.
struct NibblePlace {
  std::int64_t byte;
  int shift;
};
NibblePlace int4_place(const GemmShape& shape, std::int64_t n, std::int64_t k);

// Fills weights (u8, n k / 2) and groups (of type, 2 n k / 128) so that results are of order one;
// `plain` (f32, n k) gets the same weights as numbers, exactly.
void fill_int4(const GemmShape& shape, std::uint32_t seed, const Operand& weights,
               const Operand& groups, const Operand& plain);

}  // namespace warpmeter
