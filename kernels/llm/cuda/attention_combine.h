// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/llm/element.h"

namespace warpmeter {

// The second launch of kernels that split the context (Flash-Decoding): the chunks' results become
// one per query head. Of each of `groups` sets of `heads` heads that share keys, partial
// [groups, splits, heads, size] holds sums of values by weights relative to the chunk's maximum,
// statistics [groups, splits, heads, 2] that maximum (of log2) and the sum of weights; o [groups,
// heads, size] of `type`. Group i belongs to sequence i / groups_per_sequence, whose length says
// how many chunks of `chunk` positions have been written. size 64, 128, 256 or 512.
struct CombineShape {
  std::int64_t groups, groups_per_sequence, heads, size, splits, chunk;
  Element type;
};

void launch_attention_combine(const CombineShape& shape, const float* partial,
                              const float* statistics, const std::int32_t* lengths, void* o,
                              cudaStream_t stream);

}  // namespace warpmeter
