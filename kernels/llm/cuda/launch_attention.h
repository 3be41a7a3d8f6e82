// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/llm/attention_layout.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// Attention: one launch of each kernel on device pointers aligned to 16 bytes, as in launch.h.

// One new token per sequence over a KV cache: q, o [batch, kv_heads, heads / kv_heads, head_size],
// k, v [batch, kv_heads, context, head_size]; bf16 or f16; head_size 64 or 128, at most 8 heads per
// KV head. Scratch of f32: partial [batch, kv_heads, splits, heads / kv_heads, head_size] and
// statistics [..., 2]. Two launches.
void launch_attention_decode(const AttentionShape& shape, const void* q, const void* k,
                             const void* v, void* o, void* partial, void* statistics,
                             cudaStream_t stream);

// Causal attention of all tokens of a prompt, in any layout; bf16 or f16; head_size 64 or 128. For
// packed_layout and contiguous_layout, q, k and v are the same pointer.
void launch_attention_prefill(const AttentionShape& shape, const AttentionLayout& layout,
                              const void* q, const void* k, const void* v, void* o,
                              cudaStream_t stream);

// Into how many chunks the context is split: of at least 256 positions, so that long contexts fill
// the device.
constexpr std::int64_t attention_splits(const AttentionShape& shape) {
  const std::int64_t splits = (shape.context + 255) / 256;
  return splits < 32 ? splits : 32;
}

}  // namespace warpmeter
