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
  std::int64_t q_stride = 0;  // elements from one sequence's queries to the next's; 0: contiguous
};

constexpr std::int64_t query_stride(const DecodeShape& s) {
  return s.q_stride > 0 ? s.q_stride : s.heads * s.head_size;
}

constexpr std::int64_t pages_per_sequence(const DecodeShape& s) {
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

}  // namespace warpmeter
