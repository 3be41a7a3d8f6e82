// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/work.h"
#include "kernels/llm/gated.h"
#include "kernels/llm/kernel.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// y = silu(gate) up, silu(x) = x / (1 + exp(-x)), for matrices [rows, columns]. One oneDNN `binary`
// primitive: gate times a broadcast 1, with the post-operations swish and multiply by up. (Only
// `binary` chains both in generated code: `eltwise` with a binary post-operation falls back to a
// reference loop in oneDNN 2.6, and two primitives would pass a temporary through memory.)
//
// Work, N = R C elements: exp = N
//   ops[f32] = 4 N (negate, add, divide, multiply)
//   bytes_read = 2 N e    bytes_written = N e    working_set = 3 N e    launches = 1
//
// Checked: at most 16 rows wholly; relative tolerance exp_error (+ 2^-8 for bf16).
Work swiglu_work(const RowsShape& shape);

// Operands: "gate", "up" (normal), "y", "one" (a single element).
std::unique_ptr<Kernel> make_swiglu(const RowsShape& shape, std::uint32_t seed);

// Throws std::runtime_error("corrupt: ...") unless `rows` of y are right and all of it is written.
void check_swiglu(const RowsShape& shape, std::span<const std::int64_t> rows,
                  const GatedInput& input, const Operand& y);

}  // namespace warpmeter
