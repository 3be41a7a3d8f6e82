// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "core/work.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// C[m, n] = x[m] y[n] sum over k of A[m, k] W[n, k]: a linear layer of 8-bit operands, A quantised
// per token with factor x, W per output channel with factor y, C in bf16. type is e4m3 (sums in
// f32) or int8 (sums in i32, exact). Only the CUDA kernels exist.
//
// Work: each of the m n results takes k multiply-adds of the type, and two f32 products:
//   ops[type] = 2 m n k    ops[f32] = 2 m n
// All operands are read once (1 byte, factors 4), C is written once:
//   bytes_read = m k + n k + 4 (m + n)    bytes_written = 2 m n    working_set = both
//
// Checked: as many elements as of gemm.h, in double precision; no element of C unwritten.
//   int8: bit for bit what f32 arithmetic makes of the exact sum s: bf16(f32(s) (x y)). s fits i32
//   while k < 2^17.
//   e4m3: within (2^-11 + sum_roundoff(k)) x y sum|a w| + 2^-8 |c|. 2^-11 is an allowance for
//   tensor cores that keep about 14 bits of a sum of 32 products (DeepSeek-V3, arXiv:2412.19437,
//   section 3.3.2): they cut 33 numbers off at 2^-13 of the largest, which costs some 2^-11 of the
//   sum of magnitudes as long as sums are not carried on in them for more than 128 of k.
Work scaled_gemm_work(const GemmShape& shape);

struct ScaledGemm {
  const Operand &activations, &weights, &token_scales, &channel_scales, &result;
};

// Fills the inputs so that results are of order one. Outlier channels in e4m3 activations as
// fill_activations has them; int8 uses the whole range.
void fill_scaled_gemm(const GemmShape& shape, std::uint32_t seed, const ScaledGemm& operands);

// Throws std::runtime_error("corrupt: ...") unless the result is right; `expected` is of plain
// sums.
void check_scaled_gemm(const GemmShape& shape, const GemmReference& expected,
                       const ScaledGemm& operands);

}  // namespace warpmeter
