// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace warpmeter {

// Sums of products of T.
template <typename T>
struct SumType {
  using type = float4;
};
template <>
struct SumType<std::int8_t> {
  using type = int4;
};
template <typename T>
using SumOf = typename SumType<T>::type;

// c += a b of one warp by mma.sync m16n8k16 with f32 sums. Of lane 4 g + t (PTX ISA, "Matrix
// Fragments for mma.m16n8k16"): a.x, a.y are rows g, g + 8 at k = 2 t, 2 t + 1; a.z, a.w the same
// at k + 8; b.x, b.y column g at those k and at k + 8; c.x, c.y row g at columns 2 t, 2 t + 1 and
// c.z, c.w row g + 8.
// int8 is m16n8k32 with i32 sums: each register holds four of k (4 t and on) in place of two.
template <typename T>
__device__ __forceinline__ void multiply_add(SumOf<T>& c, const uint4& a, const uint2& b);

template <>
__device__ __forceinline__ void multiply_add<__nv_bfloat16>(float4& c, const uint4& a,
                                                            const uint2& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

template <>
__device__ __forceinline__ void multiply_add<__half>(float4& c, const uint4& a, const uint2& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

template <>
__device__ __forceinline__ void multiply_add<std::int8_t>(int4& c, const uint4& a, const uint2& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c.x), "+r"(c.y), "+r"(c.z), "+r"(c.w)
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

}  // namespace warpmeter
