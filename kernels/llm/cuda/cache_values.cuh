// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "kernels/llm/cuda/from_e4m3.cuh"
#include "kernels/llm/cuda/vector.cuh"

namespace warpmeter {

// Elements of a KV cache as operands of matrix products in T. The cache holds T, or e4m3 as bytes.

// Elements of 16 bytes of a key as four (T) or eight (e4m3) registers: element 2 i in the low half
// of register i.
template <typename T, typename Cache>
struct KeyPart {
  static constexpr int words = sizeof(Cache) == 1 ? 8 : 4;
  unsigned word[words];

  __device__ __forceinline__ explicit KeyPart(const uint4& raw) {
    const unsigned from[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < words; ++i)
      if constexpr (sizeof(Cache) == 1)
        word[i] = from_e4m3<T>(__byte_perm(from[i / 2], 0, i % 2 == 0 ? 0x1000 : 0x3020));
      else
        word[i] = from[i];
  }
};

// Neighbouring columns of a value that one lane reads, in one access: 16 bytes, or 8 if the lanes
// would find no more.
template <typename Cache, int size>
inline constexpr int value_columns = sizeof(Cache) == 2 || size == 64 ? 8 : 16;

struct ValuePart {
  unsigned word[4];
};

template <typename Cache, int size>
__device__ __forceinline__ ValuePart load_values(const Cache* from, bool present) {
  if (!present) return {};
  if constexpr (value_columns<Cache, size> * sizeof(Cache) == 16) {
    const uint4 v = load16(from);
    return {v.x, v.y, v.z, v.w};
  } else {
    const uint2 v = load8(from);
    return {v.x, v.y, 0, 0};
  }
}

// Column i of two positions, the first in the low half.
template <typename T, typename Cache>
__device__ __forceinline__ unsigned column_pair(const ValuePart& low, const ValuePart& high,
                                                int i) {
  if constexpr (sizeof(Cache) == 1)
    return from_e4m3<T>(
        __byte_perm(low.word[i / 4], high.word[i / 4], i % 4 << 4 | (4 + i % 4) << 12));
  else
    return __byte_perm(low.word[i / 2], high.word[i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
}

}  // namespace warpmeter
