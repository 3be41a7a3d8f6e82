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

// The loss of a token's logits and its gradient, for one class t per row:
//   loss[r] = log(sum_c exp(x[r, c])) - x[r, t]
//   gradient[r, c] = (exp(x[r, c]) / sum_j exp(x[r, j]) - [c = t]) scale
// Rows with the target ignored_target have loss 0 and gradient 0. scale is 1 / rows: the gradient
// of the mean. Only the CUDA kernel exists.
//
// Work, R rows of C columns, none ignored: exp = R C
//   ops[f32] = R (C - 1) max + R C subtract + R (C - 1) add + R C multiply by scale / sum,
//              and per row that division, the logarithm, the loss's two sums, and the target's 1
//            = R (4 C + 3)
//   bytes_read = R C e + 4 R (targets)    bytes_written = R C e + 4 R (losses of f32)
//   working_set = both    launches = 1
// The kernel reads a row twice; the second time it comes from L2 unless rows are too many or long.
//
// Checked: at most 8 rows wholly. With q = exp_error + sum_roundoff(C) for the sum,
//   loss: q + 4 2^-24 (|top| + |x[t]| + log C)    gradient: q p scale + 2 2^-24 scale (c = t)
//   (+ 2^-8 |gradient| for bf16)
Work cross_entropy_work(const RowsShape& shape);

inline constexpr std::int32_t ignored_target = -100;  // as in torch.nn.CrossEntropyLoss

constexpr float cross_entropy_scale(const RowsShape& shape) {
  return 1.0f / static_cast<float>(shape.rows);
}

// Loss and gradient of one row with scale 1, in double precision; `target` is no ignored one.
struct CrossEntropyRow {
  double loss = 0, top = 0;
  std::vector<double> gradient;
};
CrossEntropyRow cross_entropy_row(std::span<const double> logits, std::int64_t target);

struct CrossEntropyOperands {
  const Operand &logits, &targets, &loss, &gradient;
};

// Throws std::runtime_error("corrupt: ...") unless loss and gradient are right for `rows` and
// written wholly.
void check_cross_entropy(const RowsShape& shape, std::span<const std::int64_t> rows,
                         const CrossEntropyOperands& operands);

}  // namespace warpmeter
