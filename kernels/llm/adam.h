// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>

#include "core/work.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// One step t of AdamW on a matrix w [rows, columns] with the gradient g of `type` (Kingma and Ba,
// arXiv:1412.6980; decay decoupled from the gradient: Loshchilov and Hutter, arXiv:1711.05101):
//   m = beta1 m + (1 - beta1) g        mean = m / (1 - beta1^t)
//   v = beta2 v + (1 - beta2) g^2      square = v / (1 - beta2^t)
//   w = w - rate (mean / (sqrt(square) + epsilon) + decay w)
// w, m and v are f32 and updated in place; `copy` is w rounded to bf16, for the next forward pass.
// Only the CUDA kernel exists.
//
// Work, N elements, e bytes of a gradient: per element three products and a multiply-add for v, one
// of each for m, two products by the corrections, square root, addition, division, two
// multiply-adds for w:
//   ops[f32] = 16 N
//   bytes_read = N (12 + e)    bytes_written = N (12 + 2)    working_set = N (14 + e)    launches =
//   1
//
// Checked: all elements up to 2^18, else 2^16 of them: m within 3 u (|beta1 m| + |(1 - beta1) g|),
// v within 4 u v, w within 2 u |w| + rate (of the mean's error over the denominator, 8 u of the
// quotient), u = 2^-24; copy is the rounded w exactly and all of it is written.
Work adam_work(const RowsShape& shape);

// What a step multiplies by; the reference takes these f32 numbers as exact.
struct AdamFactors {
  float beta1, one_less_beta1, beta2, one_less_beta2;
  float mean_correction, square_correction;  // 1 / (1 - beta^t)
  float rate, epsilon, decay;
};
// beta1 0.9, beta2 0.95, rate 3e-4, epsilon 1e-8, decay 0.1: common when language models are
// trained (e.g. Touvron et al., arXiv:2302.13971).
AdamFactors adam_factors(int step);

inline constexpr int adam_timed_step = 10;

struct AdamElement {
  double w = 0, m = 0, v = 0;
};
// The step for one element in double precision.
AdamElement adam_element(const AdamFactors& factors, const AdamElement& before, double gradient);

struct AdamOperands {
  const Operand &w, &m, &v, &gradient, &copy;
};

// Fills all but the copy: gradients and m of deviation 1e-3, v the squares of such, w of 0.02.
void fill_adam(std::uint32_t seed, const AdamOperands& operands);
// Throws std::runtime_error("corrupt: ...") unless `elements` are right after one step from what
// fill_adam wrote, and the copy is that of w.
void check_adam(const AdamFactors& factors, std::uint32_t seed,
                std::span<const std::int64_t> elements, const AdamOperands& operands);

}  // namespace warpmeter
