// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>

#include "core/work.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// The sum before a norm, h = x + residual, all [rows, columns] of the shape's type: one f32 sum per
// element, rounded to the type. The norm is taken of h as it is stored. Only CUDA kernels have it.
//
// Adds to a norm's work, R rows of C columns: ops[f32] += R C, bytes_read += R C e, bytes_written
// += R C e.
Work with_residual(Work norm, const RowsShape& shape);

// Throws std::runtime_error("corrupt: ...") unless `rows` of h are exactly right and all of it is
// written.
void check_residual(const RowsShape& shape, std::span<const std::int64_t> rows, const Operand& x,
                    const Operand& residual, const Operand& h);

}  // namespace warpmeter
