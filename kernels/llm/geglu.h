// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "core/work.h"
#include "kernels/llm/gated.h"

namespace warpmeter {

// y = gelu(gate) up for matrices [rows, columns] (Shazeer, arXiv:2002.05202), with the tanh form of
// GELU (Hendrycks and Gimpel, arXiv:1606.08415; PyTorch's gelu_pytorch_tanh):
//   gelu(x) = x (1 + tanh u) / 2 = x / (1 + exp(-2 u)),  u = sqrt(2 / pi) (x + 0.044715 x^3)
// Only the CUDA kernel exists.
//
// Work, N = R C elements, by the second form with -2 u = x (a x x + b): exp = N
//   ops[f32] = 7 N (x x, multiply-add, times x: 4; add, divide, multiply by up: 3)
//   bytes_read = 2 N e    bytes_written = N e    working_set = 3 N e    launches = 1
//
// Checked: at most 16 rows wholly; relative tolerance exp_error + 4 2^-24 |2 u| (+ 2^-8 for bf16):
// the exponent passes four roundings, and its relative error is the exponential's times its size.
Work geglu_work(const RowsShape& shape);

// GELU's tanh form, without the cancellation of 1 + tanh u for negative u.
double gelu_tanh(double x);

// Throws std::runtime_error("corrupt: ...") unless `rows` of y are right and all of it is written.
void check_geglu(const RowsShape& shape, std::span<const std::int64_t> rows,
                 const GatedInput& input, const Operand& y);

}  // namespace warpmeter
