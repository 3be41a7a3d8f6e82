// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/work.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// Gradients of y[c] = x[c] g[c] s, s = 1 / sqrt(mean_c x[c]^2 + 1e-5) (rms_norm.h), by the chain
// rule with ds/dx[c] = -s^3 x[c] / C: for a row with the gradient dy of y
//   dx[c] = s g[c] dy[c] - (s^3 / C) (sum_j g[j] dy[j] x[j]) x[c]
//   dgain[c] = sum over rows of dy[c] x[c] s
// s is computed anew, not kept from the forward pass. Only the CUDA kernel exists.
//
// Work, R rows of C columns: per element a multiply-add each for the squares, the sum, dx and
// dgain, products g dy, s (g dy), s x; per row divide by C, add epsilon, square root, divide, and
// the factor of x (three products, a division)
//   ops[f32] = R (11 C + 8)
//   bytes_read = (2 R C + C) e (x, dy, gain)    bytes_written = R C e (dx) + 4 C (dgain of f32)
//   working_set = both + the blocks' sums of dgain    launches = 2
// The blocks' sums are no compulsory bytes, though they move 4 C B per block each way.
//
// Checked: dx of at most 16 rows, dgain wholly. With D the sum over j, |D| that of magnitudes, each
// term of dx has the relative error of s^3 and of D, at most q = 2 sum_roundoff(C) + 8 2^-24:
//   dx: q (s |g dy| + s^3 |D| |x| / C) (+ 2^-8 |dx| for bf16)
//   dgain: (sum_roundoff(R) + q) sum over rows of |dy x s|
Work rms_norm_backward_work(const RowsShape& shape);

// Blocks that share the rows, at most two on most SMs of a large GPU; each keeps sums of dgain.
constexpr std::int64_t rms_norm_backward_blocks(const RowsShape& shape) {
  return shape.rows < 256 ? shape.rows : 256;
}

// The gradients of one row, in double precision by the formulas above; `dgain` are its terms.
struct RmsNormRow {
  std::vector<double> dx, dgain;
  double scale = 0;      // s
  double magnitude = 0;  // |D|
};
RmsNormRow rms_norm_gradients(std::span<const double> x, std::span<const double> gain,
                              std::span<const double> dy);

struct RmsNormGradients {
  const Operand &x, &gain, &dy, &dx, &dgain;
};

// Throws std::runtime_error("corrupt: ...") unless dx is right for `rows` and written wholly, and
// dgain is right.
void check_rms_norm_backward(const RowsShape& shape, std::span<const std::int64_t> rows,
                             const RmsNormGradients& operands);

}  // namespace warpmeter
