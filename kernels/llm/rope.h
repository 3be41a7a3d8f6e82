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

// Rotary embedding (Su et al., arXiv:2104.09864) in the layout of Llama and Qwen: element i of each
// head of a token pairs with element i + d / 2, i < d / 2, and both turn by the angle of the
// token's position and i:
//   y1 = x1 cos - x2 sin    y2 = x2 cos + x1 sin
// x, y are [tokens, heads, d], tokens a stride apart: in a layer, y is x, and x the first H + G
// heads of the packed rows [tokens, (H + 2 G) d] of the QKV product. cos and sin are f32 tables
// [positions, d / 2] with angle(p, i) = p 500000^(-2 i / d). Only the CUDA kernel exists.
//
// Work, T tokens, H heads of size d, e bytes of type: per pair four products and two sums
//   ops[f32] = 3 T H d
//   bytes_read = T H d e + 4 T (positions) + 4 T d (a table row of cos and of sin each)
//   bytes_written = T H d e    working_set = both    launches = 1
// Positions of the tokens are different; equal ones would share table rows.
//
// Checked: at most 16 tokens wholly, within (4 2^-24 + store) (|x1| + |x2|).
Work rope_work(const RopeShape& shape);

// Rows of the tables: enough for a position of its own for each token.
constexpr std::int64_t rope_positions(const RopeShape& shape) {
  return shape.tokens > 4096 ? shape.tokens : 4096;
}

// f32 tables [positions, head_size / 2].
struct RotaryTables {
  std::vector<float> cosines, sines;
};
RotaryTables rotary_tables(std::int64_t positions, std::int64_t head_size);

// Fills the tables and gives each token a position of its own.
void fill_rope(const RopeShape& shape, std::uint32_t seed, const Operand& positions,
               const Operand& cosines, const Operand& sines);

struct RopeOperands {
  const Operand &x, &positions, &cosines, &sines, &y;
};

// Throws std::runtime_error("corrupt: ...") unless y is right for `tokens` and, if the stride
// leaves no gaps, all of it written.
void check_rope(const RopeShape& shape, std::span<const std::int64_t> tokens,
                const RopeOperands& operands);

// The same where y is x, whose old values `x` holds; what lies between tokens must be unchanged.
void check_rope_in_place(const RopeShape& shape, std::span<const std::int64_t> tokens,
                         const RopeOperands& operands);

}  // namespace warpmeter
