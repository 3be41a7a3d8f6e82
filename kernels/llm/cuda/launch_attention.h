// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/llm/attention_layout.h"
#include "kernels/llm/attention_shapes.h"

namespace warpmeter {

// Attention: one launch of each kernel on device pointers aligned to 16 bytes, as in launch.h.

// One new token per sequence over a paged KV cache: q and o [batch, heads, head_size] of bf16 or
// f16, q's sequences q_row elements apart (a multiple of 8), so that it may be the first part of
// packed rows (packed_row); k, v [pages, kv_heads, page, head_size] of the same type or e4m3;
// block_table [batch, pages_per_sequence] of i32: the page of each `page` positions; lengths
// [batch] of i32, at least 1 and at most `context`; scales [2] of f32, by which elements of K and V
// in e4m3 are multiplied, else unused. head_size 64, 128 or 256, page a power of two of at least
// 16, at most 8 heads per KV head. Scratch of f32: partial [batch, kv_heads, splits, heads /
// kv_heads, head_size] and statistics [..., 2]. What no length covers, in the table and in the
// cache, is not read. Two launches.
struct DecodeOperands {
  const void *q, *k, *v, *block_table, *lengths, *scales;
  void *o, *partial, *statistics;
  std::int64_t q_row;
};
void launch_attention_decode(const DecodeShape& shape, const DecodeOperands& operands,
                             cudaStream_t stream);

// One new token per sequence of multi-head latent attention, absorbed (attention_mla.h): q [batch,
// heads, 576], o [batch, heads, 512], cache [pages, page, 576] of bf16 or f16; block_table, lengths
// and page as above; heads a multiple of 16. Scratch of f32: partial [batch, mla_splits, heads,
// 512] and statistics [..., 2]. Needs 92 KiB of shared memory per block. Two launches.
struct MlaOperands {
  const void *q, *cache, *block_table, *lengths;
  void *o, *partial, *statistics;
};
void launch_attention_mla(const MlaShape& shape, const MlaOperands& operands, cudaStream_t stream);

// Causal attention of all tokens of a prompt, in any layout; bf16 or f16; head_size 64, 128 or 256.
// For packed_layout and contiguous_layout, q, k and v are the same pointer.
void launch_attention_prefill(const AttentionShape& shape, const AttentionLayout& layout,
                              const void* q, const void* k, const void* v, void* o,
                              cudaStream_t stream);

// The same on compute capability 9.0 by wgmma and tensor copies; packed_layout only; head_size 64
// or 128. qkv [batch, context, (heads + 2 kv_heads) head_size], o [batch, context, heads
// head_size].
void launch_attention_sm90(const AttentionShape& shape, const void* qkv, void* o,
                           cudaStream_t stream);

}  // namespace warpmeter
