// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "kernels/llm/shapes.h"

namespace warpmeter {

// Where the rows of a tensor [batch, token, head, head_size] stand, in elements: `first` is the
// place of the first one, the others are distances. Rows themselves are contiguous.
struct HeadRows {
  std::int64_t first = 0, batch = 0, token = 0, head = 0;
};

// The first element of a row.
constexpr std::int64_t row_at(const HeadRows& rows, std::int64_t sequence, std::int64_t token,
                              std::int64_t head) {
  return rows.first + sequence * rows.batch + token * rows.token + head * rows.head;
}

// All numbers must be multiples of 8 for kernels that access 16 bytes.
struct AttentionLayout {
  HeadRows q, k, v, o;
};

// As the product with a layer's joint weights leaves them: q, k and v in one tensor [batch, token,
// (heads + 2 kv_heads) head_size], q's heads first, then k's, then v's; o [batch, token, heads
// head_size], as the next product wants it.
constexpr AttentionLayout packed_layout(const AttentionShape& s) {
  const std::int64_t q = s.heads * s.head_size, kv = s.kv_heads * s.head_size;
  const std::int64_t row = q + 2 * kv;
  const auto part = [&](std::int64_t first) {
    return HeadRows{first, s.context * row, row, s.head_size};
  };
  return {part(0), part(q), part(q + kv), {0, s.context * q, q, s.head_size}};
}

// Each head's rows together, [batch, head, token, head_size]: q, then k, then v in one tensor; o
// alone.
constexpr AttentionLayout contiguous_layout(const AttentionShape& s) {
  const std::int64_t head = s.context * s.head_size;
  const std::int64_t q = s.batch * s.heads * head, kv = s.batch * s.kv_heads * head;
  const auto part = [&](std::int64_t first, std::int64_t heads) {
    return HeadRows{first, heads * head, s.head_size, head};
  };
  return {part(0, s.heads), part(q, s.kv_heads), part(q + kv, s.kv_heads), part(0, s.heads)};
}

}  // namespace warpmeter
