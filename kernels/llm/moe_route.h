// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "core/work.h"
#include "kernels/llm/moe_shapes.h"
#include "kernels/llm/operand.h"

namespace warpmeter {

// The router of a mixture of experts: the softmax over a token's E logits, of which the k largest
// are kept and divided by their sum (Qwen3-MoE with norm_topk_prob). The sum over all E cancels, so
// that this is the softmax over the k largest logits, as Mixtral defines it (Jiang et al.,
// arXiv:2401.04088):
//   ids[t, j] = the j-th largest of logits[t, :], of equal ones that with the lower index first
//   weights[t, j] = exp(logits[t, ids[t, j]] - logits[t, ids[t, 0]]) / sum of these over j
// Logits must be finite. Only the CUDA kernel exists.
//
// Work, T tokens, E logits of e bytes, k kept: per token k subtractions, k - 1 additions, one
// division, k products, k exponentials. Comparisons are not counted: their number depends on the
// algorithm, and integers do them.
//   ops[f32] = 3 T k    exp = T k
//   bytes_read = T E e    bytes_written = 8 T k (i32, f32)    working_set = both    launches = 1
//
// Checked: all ids exactly; all weights within exp_error + sum_roundoff(k), relative.
Work moe_route_work(const RouteShape& shape);

// Throws std::runtime_error("corrupt: ...") unless ids [tokens, top] of i32 and weights of f32 are
// right for `logits` [tokens, experts].
void check_moe_route(const RouteShape& shape, const Operand& logits, const Operand& ids,
                     const Operand& weights);

}  // namespace warpmeter
