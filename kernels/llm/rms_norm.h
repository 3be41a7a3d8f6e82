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

// y[r, c] = x[r, c] g[c] / sqrt(mean_c x[r, c]^2 + 1e-5), the norm of Llama and Qwen. oneDNN 2.6
// has layer_normalization only (it subtracts a mean), so this is a loop of ours: rows shared by the
// OpenMP team, columns vectorised by the compiler, f32 inside.
//
// Work, R rows of C columns: C multiply-adds for the squares (2 C), then divide by C, add epsilon,
// square root, divide (4), and two multiplications per element (2 C):
//   ops[f32] = R (4 C + 4)
//   bytes_read = (R C + C) e    bytes_written = R C e    working_set = both    launches = 1
//
// Checked: at most 16 rows wholly; relative tolerance sum_roundoff(C) + 8 2^-24 (+ 2^-8 for bf16).
Work rms_norm_work(const RowsShape& shape);

// Operands: "x" (activations), "gain" [columns], "y".
std::unique_ptr<Kernel> make_rms_norm(const RowsShape& shape, std::uint32_t seed);

// Throws std::runtime_error("corrupt: ...") unless `rows` of y are right and all of it is written.
void check_rms_norm(const RowsShape& shape, std::span<const std::int64_t> rows, const Operand& x,
                    const Operand& gain, const Operand& y);

}  // namespace warpmeter
