// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "kernels/llm/element.h"

namespace warpmeter {

// The sizes of kernels, for host and device code; what they mean stands with each kernel.

// A matrix of `rows` tokens by `columns` elements: the shape of the row-wise kernels.
struct RowsShape {
  std::int64_t rows = 0, columns = 0;
  Element type = Element::f32;
};

inline constexpr float rms_epsilon = 1e-5f, layer_norm_epsilon = 1e-5f;

struct GatherShape {
  std::int64_t rows = 0, columns = 0, vocabulary = 0;
  Element type = Element::f32;
};

struct RopeShape {
  std::int64_t tokens = 0, heads = 0, head_size = 0;
  Element type = Element::f32;
  std::int64_t stride = 0;  // elements from token to token; 0: heads * head_size
};

constexpr std::int64_t token_stride(const RopeShape& shape) {
  return shape.stride > 0 ? shape.stride : shape.heads * shape.head_size;
}

// New tokens of a paged KV cache; `stride` as in RopeShape, 0: (heads + 2 kv_heads) * head_size.
struct KvAppendShape {
  std::int64_t tokens = 0, sequences = 1, heads = 0, kv_heads = 0, head_size = 0, page_size = 16;
  Element type = Element::bf16, cache = Element::bf16;
  std::int64_t stride = 0;
};

constexpr std::int64_t token_stride(const KvAppendShape& shape) {
  return shape.stride > 0 ? shape.stride : (shape.heads + 2 * shape.kv_heads) * shape.head_size;
}

// Logits of `rows` tokens; top_k 0 and top_p 1 keep all.
struct SampleShape {
  std::int64_t rows = 0, vocabulary = 0, top_k = 0;
  double top_p = 1, temperature = 1;
  Element type = Element::f32;
};

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  Element type = Element::f32;
};

// Rows of all experts together; `active` experts have any.
struct GroupedGemmShape {
  std::int64_t rows = 0, experts = 0, active = 0, n = 0, k = 0;
  Element type = Element::bf16;
};

struct AttentionShape {
  std::int64_t batch = 0, heads = 0, kv_heads = 0, head_size = 0, context = 0;
  Element type = Element::f32;
};

}  // namespace warpmeter
