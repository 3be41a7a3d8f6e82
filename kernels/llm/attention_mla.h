// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>

#include "core/work.h"
#include "kernels/llm/attention_shapes.h"
#include "kernels/llm/operand.h"

namespace warpmeter {

// One decode step of multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1) with
// the sizes of DeepSeek-V3 (arXiv:2412.19437), in the absorbed form: with the up-projection of keys
// multiplied into the queries and that of values left to the next product, all heads attend to the
// same row per position, latent (r = 512) and rotary key (p = 64) together:
//   o[b, h] = softmax(scale q[b, h] C[b]^T) C[b][:, first r],  scale = mla_scale
// q is [b, h, r + p], o [b, h, r]; the cache C is in pages, [pages, page, r + p]; block_table
// [b, pages of a sequence], lengths [b]. On GPUs only.
//
// Work if all B sequences have L = context positions, in P pages each, S = B H L scores:
//   ops[type] = 2 S (r + p) + 2 S r = 2 S (2 r + p)    exp = S
//   ops[f32] += 5 S - B H (attention.h)
//   bytes_read = (B H + B L) (r + p) e + 4 B (P + 1)    bytes_written = B H r e
//   working_set = both + 4 B H mla_splits (r + 2) (results of chunks)
//                 + B (P page - L) (r + p) e (rest of the last pages)
// launches = 2.
Work mla_work(const MlaShape& shape);

struct MlaChecked {
  const Operand &q, &cache, &block_table, &lengths, &o;
};

// Checks `pairs` (b heads + h), each over its sequence's length, and that all of o is written, by
// attention.h's tolerance. Throws std::runtime_error("corrupt: ...").
void check_mla(const MlaShape& shape, std::span<const std::int64_t> pairs,
               const MlaChecked& operands);

}  // namespace warpmeter
