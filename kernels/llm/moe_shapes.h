// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "kernels/llm/element.h"

namespace warpmeter {

// Which experts each token goes to: the `top` largest of its `experts` router logits, of `type`.
struct RouteShape {
  std::int64_t tokens = 0, experts = 0, top = 0;
  Element type = Element::f32;
};

inline constexpr std::int64_t most_experts = 512, most_top = 16;

// Rows of `hidden` elements of `type`, moved to their experts and back. Each expert's rows begin at
// a multiple of `multiple` rows.
struct PermuteShape {
  std::int64_t tokens = 0, experts = 0, top = 0, hidden = 0, multiple = 1;
  Element type = Element::f32;
};

// The most rows that the experts' segments can take: each of them may be padded, but only those
// that have a row.
constexpr std::int64_t permuted_rows(const PermuteShape& shape) {
  const std::int64_t routed = shape.tokens * shape.top;
  const std::int64_t used = routed < shape.experts ? routed : shape.experts;
  return routed + used * (shape.multiple - 1);
}

}  // namespace warpmeter
