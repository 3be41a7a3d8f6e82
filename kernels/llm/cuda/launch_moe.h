// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/llm/moe_shapes.h"

namespace warpmeter {

// The kernels of a mixture of experts, as in launch.h.

// logits [tokens, experts] of f32 or bf16, ids [tokens, top] of i32, weights [tokens, top] of f32;
// at most most_experts experts, of them at most most_top.
void launch_moe_route(const RouteShape& shape, const void* logits, void* ids, void* weights,
                      cudaStream_t stream);

}  // namespace warpmeter
