// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>

#include "core/work.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// Activations x [rows, columns] to e4m3: each group of `group` columns of a row (the last one may
// be shorter) has a scale of its own, its largest magnitude / 448, or 1 if all are zero, and y = x
// / scale, both divisions in f32. group = columns: one scale per token; 128: the 1 x 128 tiles of
// DeepSeek-V3 (arXiv:2412.19437, section 3.3). Scales are f32 [rows, groups per row]. Only CUDA
// kernels exist.
//
// Work, R rows of C columns in G groups each: a group of n has n - 1 maxima and n + 1 divisions
//   ops[f32] = 2 R C    bytes_read = R C e    bytes_written = R C + 4 R G
//   working_set = both    launches = 1
//
// Checked: at most 16 rows wholly, scales and results to the bit.
inline constexpr std::int64_t quantize_columns = 128;
constexpr std::int64_t groups_per_row(const RowsShape& shape, std::int64_t group) {
  return (shape.columns + group - 1) / group;
}

Work quantize_work(const RowsShape& shape, std::int64_t group);

struct QuantizeOperands {
  const Operand &x, &y, &scales;
};

// Throws std::runtime_error("corrupt: ...") unless `rows` are right and all scales and results are
// written.
void check_quantize(const RowsShape& shape, std::int64_t group, std::span<const std::int64_t> rows,
                    const QuantizeOperands& operands);

}  // namespace warpmeter
