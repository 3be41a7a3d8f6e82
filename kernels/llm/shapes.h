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

inline constexpr float rms_epsilon = 1e-5f;

struct GatherShape {
  std::int64_t rows = 0, columns = 0, vocabulary = 0;
  Element type = Element::f32;
};

struct RopeShape {
  std::int64_t tokens = 0, heads = 0, head_size = 0;
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
