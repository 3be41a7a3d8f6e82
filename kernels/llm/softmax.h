// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/work.h"
#include "kernels/llm/kernel.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// y[r, c] = exp(x[r, c] - max_c x) / sum_c exp(x[r, c] - max_c x). oneDNN `softmax` (accurate), out
// of place, f32 inside.
//
// Work, R rows of C columns: exp = R C
//   ops[f32] = R (C - 1) max + R C subtract + R (C - 1) add + R divide + R C multiply
//            = R (4 C - 1)
//   bytes_read = bytes_written = R C e    working_set = 2 R C e    launches = 1
//
// Checked: at most 8 rows wholly; relative tolerance exp_error + sum_roundoff(C), for bf16 plus
// 2 2^-8: oneDNN 2.6 keeps the exponentials in the result's memory, so they are rounded to bf16
// once before and once after the division.
Work softmax_work(const RowsShape& shape);

// Operands: "x" (normal, deviation 3, like logits) and "y".
std::unique_ptr<Kernel> make_softmax(const RowsShape& shape, std::uint32_t seed);

// Throws std::runtime_error("corrupt: ...") unless `rows` of y are right and all of it is written.
void check_softmax(const RowsShape& shape, std::span<const std::int64_t> rows, const Operand& x,
                   const Operand& y);

}  // namespace warpmeter
