// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/work.h"
#include "kernels/llm/moe_shapes.h"
#include "kernels/llm/operand.h"

namespace warpmeter {

// Rows of tokens to their experts and back. ids [tokens, top] says which experts each token goes to
// (moe_route.h); the copy of token t for its j-th expert e = ids[t, j] becomes a row of e's
// segment, where rows stand in the order of (t, j):
//   counts[e] = how many (t, j) have ids[t, j] = e
//   offsets[e + 1] = offsets[e] + counts[e] rounded up to a multiple of `multiple`, offsets[0] = 0
//   rows[t, j] = offsets[e] + how many earlier (t', j') have the same expert
//   y[rows[t, j], :] = x[t, :], rows between a segment's end and the next one's begin are zeros
// Every result is a function of ids and x alone, whatever the order in which blocks run.
//
// Work of permuting, T tokens of H elements of e bytes, E experts, k per token: no operations,
//   bytes_read = T H e + 4 T k (ids)
//   bytes_written = T k H e + 4 T k (rows) + 4 E (counts) + 4 (E + 1) (offsets)
//   working_set = both + scratch    launches = 3
// Rows of padding are not counted, since their number depends on the data (at most E (multiple -
// 1)).
//
// Checked: everything exactly.
Work moe_permute_work(const PermuteShape& shape);

// y[t, :] = sum over j of weights[t, j] x[rows[t, j], :], added in the order of j in f32.
//
// Work: ops[f32] = 2 T k H
//   bytes_read = T k H e + 8 T k (rows, weights)    bytes_written = T H e
//   working_set = both    launches = 1
//
// Checked: `tokens` wholly, within sum_roundoff(k) sum|w x| (+ the store's rounding).
Work moe_unpermute_work(const PermuteShape& shape);

// Scratch of permuting: how many rows of each expert a block counted, [blocks, experts] of i32.
// Blocks are as few as can be while each takes 1024 rows, and at most 128, because each reads what
// all have counted.
constexpr std::int64_t permute_blocks(const PermuteShape& shape) {
  const std::int64_t blocks = (shape.tokens * shape.top + 1023) / 1024;
  return blocks < 128 ? blocks : 128;
}

// Fills ids with `top` different experts per token, some more popular than others: the largest of
// normal logits to which each expert adds a normal number of its own.
void fill_expert_ids(const PermuteShape& shape, std::uint32_t seed, const Operand& ids);

// The definition above, on the host.
struct Permutation {
  std::vector<std::int32_t> counts, offsets, rows;
};
Permutation permutation(const PermuteShape& shape, const Operand& ids);

struct PermuteOperands {
  const Operand &x, &ids, &y, &rows, &counts, &offsets;
};

// Both throw std::runtime_error("corrupt: ...") unless the results are right.
void check_moe_permute(const PermuteShape& shape, const PermuteOperands& operands);
void check_moe_unpermute(const PermuteShape& shape, std::span<const std::int64_t> tokens,
                         const Operand& x, const Operand& rows, const Operand& weights,
                         const Operand& y);

}  // namespace warpmeter
