// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/llm/moe_shapes.h"

namespace warpmeter {

// The kernels of a mixture of experts, as in launch.h.

// logits [tokens, experts] of f32, bf16 or f16, ids [tokens, top] of i32, weights [tokens, top] of
// f32; at most most_experts experts, of them at most most_top.
void launch_moe_route(const RouteShape& shape, const void* logits, void* ids, void* weights,
                      cudaStream_t stream);

// x [tokens, hidden], ids [tokens, top], y [permuted_rows, hidden]; of i32: rows [tokens, top],
// counts [experts], offsets [experts + 1], scratch block_counts [permute_blocks, experts]
// (moe_permute.h); f32, bf16 or f16. At most most_experts experts and 2^31 - 1 rows; all ids must
// be experts. Three launches.
void launch_moe_permute(const PermuteShape& shape, const void* x, const void* ids, void* y,
                        void* rows, void* counts, void* offsets, void* block_counts,
                        cudaStream_t stream);

// x [permuted_rows, hidden], rows [tokens, top] of i32, weights [tokens, top] of f32, y [tokens,
// hidden]; f32, bf16 or f16.
void launch_moe_unpermute(const PermuteShape& shape, const void* x, const void* rows,
                          const void* weights, void* y, cudaStream_t stream);

}  // namespace warpmeter
