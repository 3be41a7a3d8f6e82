// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/work.h"
#include "kernels/llm/attention_layout.h"
#include "kernels/llm/attention_shapes.h"
#include "kernels/llm/kernel.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// One decode step of grouped-query attention over a KV cache, one new token per sequence:
//   o[b, h] = softmax(scale q[b, h] K[b, h / g]^T) V[b, h / g],  scale = 1 / sqrt(d), g = h / kv
// q and o are [b, kv, g, d], K and V [b, kv, context, d]. Three oneDNN primitives: batched matmul
// over b kv (m = g, so that the g heads that share K read it once) with scale, softmax, batched
// matmul. Scores are f32, probabilities and result in the type of the operands.
//
// Work, B sequences, H query heads, G key-value heads, L = context, S = B H L scores:
//   ops[type] = 4 S d (two products)      exp = S
//   ops[f32] += S scale + (S - B H) max + S subtract + (S - B H) add + B H divide + S multiply
//             = 5 S - B H
//   bytes_read = (B H d + 2 B G L d) e    bytes_written = B H d e
//   working_set = bytes_read + bytes_written + S 4 (scores) + S e (probabilities)
// The intermediates are not counted as read or written: S / (2 B G L d) = H / (2 G d) is about 2 %.
// launches = 3.
//
// Checked: at most 8 (b, h) pairs wholly, in double precision. Tolerance: probabilities have the
// relative error P = 2 max|error of a score| + exp_error (+ 2 2^-8 for bf16, softmax.h), so the
// result's is (P + sum_roundoff(L)) sum p|v| (+ 2^-8 |o| for bf16).
Work attention_work(const AttentionShape& shape);

// Operands: "q", "k", "v", "o", scratch "scores" and "probabilities". `scale` is what the kernel
// multiplies scores with; only a test gives another one than 1 / sqrt(head_size), to see the check
// find it.
std::unique_ptr<Kernel> make_attention(const AttentionShape& shape, std::uint32_t seed,
                                       double scale);
std::unique_ptr<Kernel> make_attention(const AttentionShape& shape, std::uint32_t seed);

// One query's attention, wherever its rows stand: what all kernels of this family are checked by.
struct AttentionRow {
  std::int64_t q, o;  // first elements of the query and of its result
  std::int64_t context, key_size, value_size;
  double score_scale, value_scale;  // products of query and key, and values, are multiplied by them
  std::function<std::int64_t(std::int64_t)> key, value;  // first element of a position's
};

// Throws std::runtime_error("corrupt: ...") unless the result is right, by the tolerance above: o's
// type is that of the probabilities.
void check_attention_row(const AttentionRow& row, const Operand& q, const Operand& k,
                         const Operand& v, const Operand& o);

// The same for `pairs` (b heads + h), and that all of o is written.
void check_attention(const AttentionShape& shape, std::span<const std::int64_t> pairs,
                     const Operand& q, const Operand& k, const Operand& v, const Operand& o);

// Attention of all L tokens of each prompt, each to itself and those before; on GPUs only, in any
// layout (attention_layout.h).
//
// Work, B sequences, H query heads, G key-value heads, S = B H L (L + 1) / 2 scores, as above:
//   ops[type] = 4 S d    exp = S    ops[f32] += 5 S - B H L
//   bytes_read = (B H + 2 B G) L d e    bytes_written = B H L d e    working_set = both
// launches = 1. Keys after their query are no work, though tiles on the diagonal compute them.
Work causal_attention_work(const AttentionShape& shape);

// Checks `queries` ((b heads + h) L + i) of causal attention, and that all of o is written. q, k
// and v may be one operand.
void check_causal_attention(const AttentionShape& shape, const AttentionLayout& layout,
                            std::span<const std::int64_t> queries, const Operand& q,
                            const Operand& k, const Operand& v, const Operand& o);

// A decode step over a cache in pages, on GPUs only (cuda/launch_attention.h has the layouts).
//
// Work if all sequences have L = context positions, in P = ceil(L / page) pages each; c bytes per
// element of the cache:
//   ops as attention_work's; with a cache of e4m3, ops[f32] += B H d (v's scale; k's is a factor of
//   the scores' scale, conversions are not counted)
//   bytes_read = B H d e + 2 B G L d c + 4 B (P + 1) (pages, lengths) + 8 if e4m3 (scales)
//   bytes_written = B H d e
//   working_set = both + 4 B H splits (d + 2) (results of chunks) + 2 B G (P page - L) d c (rest)
// launches = 2.
Work paged_attention_work(const DecodeShape& shape);

// q is packed: the first part of rows of packed_row elements, one per sequence.
struct PagedOperands {
  const Operand &q, &k, &v, &block_table, &lengths, &scales, &o;
};

// Checks `pairs` (b heads + h), each over its sequence's length, and that all of o is written.
void check_paged_attention(const DecodeShape& shape, std::span<const std::int64_t> pairs,
                           const PagedOperands& operands);

}  // namespace warpmeter
