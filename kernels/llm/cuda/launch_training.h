// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/llm/adam.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// The kernels of training, as in launch.h.

// The most columns of a row that the backward pass of RMSNorm takes.
inline constexpr std::int64_t columns_of_backward = 8 * 1024;

// x, dy, dx [rows, columns], gain [columns]; f32, bf16 or f16; dgain [columns] and scratch partial
// [rms_norm_backward_blocks, columns] of f32; at most columns_of_backward columns. Two launches.
void launch_rms_norm_backward(const RowsShape& shape, const void* x, const void* gain,
                              const void* dy, void* dx, void* dgain, void* partial,
                              cudaStream_t stream);

// logits, gradient [rows, columns], targets [rows] of i32, columns or ignored_target, loss [rows]
// of f32; f32, bf16 or f16. gradient may not be logits.
void launch_cross_entropy(const RowsShape& shape, const void* logits, const void* targets,
                          void* loss, void* gradient, float scale, cudaStream_t stream);

// w, m, v [rows, columns] of f32, updated in place, gradient [rows, columns] of f32, bf16 or f16,
// copy [rows, columns] of bf16.
void launch_adam(const RowsShape& shape, const AdamFactors& factors, void* w, void* m, void* v,
                 const void* gradient, void* copy, cudaStream_t stream);

}  // namespace warpmeter
