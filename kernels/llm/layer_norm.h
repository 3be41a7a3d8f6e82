// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>

#include "core/work.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// y[r, c] = (x[r, c] - mean) g[c] / sqrt(variance + 1e-5) + b[c], mean and variance (over C, not
// C - 1) of row r: Ba, Kiros and Hinton, arXiv:1607.06450. Only the CUDA kernel exists.
//
// Work, R rows of C columns: C - 1 sums and a division for the mean (C), C deviations, C
// multiply-adds for the squares (2 C), then divide by C, add epsilon, square root, divide (4), and
// two multiplications and a sum per element (3 C):
//   ops[f32] = R (7 C + 4)
//   bytes_read = (R C + 2 C) e    bytes_written = R C e    working_set = both    launches = 1
//
// Checked: at most 16 rows wholly. With u = 2^-24, s = 1 / sqrt(...), d = x - mean, the mean is off
// by at most m = sum_roundoff(C) mean |x|, s by sum_roundoff(C) and few u, the last sum by u:
//   tolerance = |g| s m + |d s g| (sum_roundoff(C) + 8 u) + u |b| (+ 2^-8 |y| for bf16)
Work layer_norm_work(const RowsShape& shape);

struct LayerNormOperands {
  const Operand &x, &gain, &bias, &y;
};

// Throws std::runtime_error("corrupt: ...") unless `rows` of y are right and all of it is written.
void check_layer_norm(const RowsShape& shape, std::span<const std::int64_t> rows,
                      const LayerNormOperands& operands);

}  // namespace warpmeter
