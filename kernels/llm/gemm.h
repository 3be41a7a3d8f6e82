// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/work.h"
#include "kernels/llm/kernel.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// C[m, n] = A[m, k] W[k, n]: a linear layer with weights W on m tokens. oneDNN `matmul`, weights
// reordered beforehand to the blocked format that oneDNN chooses, f32 accumulators, C in the type
// of the operands.
//
// Work: each of the m n results takes k multiply-adds:   ops[type] = 2 m n k
// A and W are read once, C is written once, e = bytes of type:
//   bytes_read = (m k + k n) e    bytes_written = m n e    working_set = (m k + k n + m n) e
// launches = 1 (one primitive).
//
// Checked: 8 rows x 64 columns (all, if m n k <= 2^20) in double precision, within
// sum_roundoff(k) sum|a w|, plus 2^-8 |c| for bf16; no element of C unwritten.
Work gemm_work(const GemmShape& shape);

// Operands: "activations" [m, k], "weights" (blocked), "result" [m, n]. The plain weights are
// fill_normal(seed + 1, 1 / sqrt(k)) in row order [k, n], so that results are of order one.
std::unique_ptr<Kernel> make_gemm(const GemmShape& shape, std::uint32_t seed);

// What a check of C compares with: some rows and columns of the product in double precision.
struct ProductReference {
  // Throws std::runtime_error("corrupt: ...") unless these elements are right and all are written.
  void check(const GemmShape& shape, const Operand& result) const;

  std::vector<std::int64_t> rows, columns;
  std::vector<double> sums, magnitudes;  // [rows, columns]
};

// Weight (k, n) is element k k_stride + n n_stride of `weights`.
struct GemmReference : ProductReference {
  GemmReference(const GemmShape& shape, const Operand& activations, const Operand& weights,
                std::int64_t k_stride, std::int64_t n_stride, std::uint32_t seed);
};

// How far a stored sum of k products may be off: see above; f16 may be subnormal.
double gemm_tolerance(Element type, std::int64_t k, double sum, double magnitude);

}  // namespace warpmeter
