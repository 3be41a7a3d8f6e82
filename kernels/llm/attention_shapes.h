// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "kernels/llm/shapes.h"

namespace warpmeter {

// Decoding over a KV cache in pages of `page` positions with elements of type `cache`: that of
// queries and results, or e4m3. `context` is the most positions that a sequence has.
struct DecodeShape : AttentionShape {
  std::int64_t page = 0;
  Element cache = Element::bf16;
};

// Elements of a row of q, k and v as the product with a layer's joint weights leaves them
// (attention_layout.h).
constexpr std::int64_t packed_row(const AttentionShape& s) {
  return (s.heads + 2 * s.kv_heads) * s.head_size;
}

// Multi-head latent attention with the sizes of DeepSeek-V3: a position is one row for all heads.
struct MlaShape {
  std::int64_t batch = 0, heads = 0, context = 0, page = 0;
  Element type = Element::bf16;
};
inline constexpr int mla_rank = 512, mla_rope = 64;  // kv_lora_rank, qk_rope_head_dim

// Of its scores: 1 / sqrt(192), since before absorption keys have qk_nope_head_dim = 128 and 64.
inline constexpr double mla_scale = 0.07216878364870322;

template <class Shape>
constexpr std::int64_t pages_per_sequence(const Shape& s) {
  return (s.context + s.page - 1) / s.page;
}

// Into how many chunks the context is split: of at least 256 positions, so that long contexts fill
// the device.
constexpr std::int64_t attention_splits(std::int64_t context) {
  const std::int64_t splits = (context + 255) / 256;
  return splits < 32 ? splits : 32;
}

// Positions of a chunk: whole steps of 16.
constexpr std::int64_t attention_chunk(std::int64_t context) {
  const std::int64_t sixteen = 16 * attention_splits(context);
  return (context + sixteen - 1) / sixteen * 16;
}

// The results of a chunk are as large as 227 positions for 128 heads, so there are only as many
// chunks as give 128 blocks of 16 or 32 heads, of at least 256 positions each.
constexpr std::int64_t mla_splits(const MlaShape& s) {
  const std::int64_t blocks = s.batch * s.heads / (s.heads % 32 == 0 ? 32 : 16);
  const std::int64_t wanted = (127 + blocks) / blocks, most = (s.context + 255) / 256;
  return wanted < most ? wanted : most;
}

// Positions of a chunk: whole steps of 32.
constexpr std::int64_t mla_chunk(const MlaShape& s) {
  const std::int64_t steps = 32 * mla_splits(s);
  return (s.context + steps - 1) / steps * 32;
}

}  // namespace warpmeter
