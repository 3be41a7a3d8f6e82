// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "kernels/llm/cuda/vector.cuh"

namespace warpmeter {

// An 8-bit float (kernels/llm/element.h).
struct E4m3 {
  std::uint8_t bits;
};

// Two numbers, `low` in the lower byte: to nearest, ties to even, beyond 448 to 448, as
// cvt.rn.satfinite does, which devices below compute capability 8.9 lack.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
__device__ __forceinline__ std::uint32_t to_e4m3_pair(float low, float high) {
  std::uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
#else
__device__ __forceinline__ std::uint32_t to_e4m3_bits(float value) {
  const float size = fminf(fabsf(value), 448.0f);
  // Below 2^-6, in steps of 2^-9: the last place of a sum with 2^14. Above, three bits of fraction
  // remain of 23, and the exponent's bias is 7 instead of 127.
  const std::uint32_t small = __float_as_uint(size + 16384.0f) - __float_as_uint(16384.0f);
  const std::uint32_t bits = __float_as_uint(size);
  const std::uint32_t normal = ((bits + 0x7ffffu + ((bits >> 20) & 1u)) >> 20) - (120u << 3);
  const std::uint32_t sign = (__float_as_uint(value) >> 24) & 0x80u;
  return value != value ? 0x7fu : sign | (size < 0x1p-6f ? small : normal);
}
__device__ __forceinline__ std::uint32_t to_e4m3_pair(float low, float high) {
  return to_e4m3_bits(low) | to_e4m3_bits(high) << 8;
}
#endif

// The scale of a group whose largest magnitude is `top`.
__device__ __forceinline__ float scale_for(float top) { return top > 0 ? top / 448 : 1.0f; }

template <int width>
__device__ __forceinline__ float larger_magnitude(float top, const float (&values)[width]) {
#pragma unroll
  for (int i = 0; i < width; ++i) top = fmaxf(top, fabsf(values[i]));
  return top;
}

// The quotients values / scale as e4m3: 16 by one access (`at` aligned to 16 bytes), or one.
template <int width>
__device__ __forceinline__ void store_quotients(E4m3* at, const float (&values)[width],
                                                float scale) {
  static_assert(width == 1 || width == 16);
  if constexpr (width == 1) {
    at->bits = static_cast<std::uint8_t>(to_e4m3_pair(values[0] / scale, 0));
  } else {
    std::uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      words[i] = to_e4m3_pair(values[4 * i] / scale, values[4 * i + 1] / scale) |
                 to_e4m3_pair(values[4 * i + 2] / scale, values[4 * i + 3] / scale) << 16;
    store16(at, {words[0], words[1], words[2], words[3]});
  }
}

template <typename T>
__device__ __forceinline__ void unpack_16(const uint4& low, const uint4& high,
                                          float (&values)[16]) {
  float first[8], second[8];
  unpack<T>(low, first);
  unpack<T>(high, second);
#pragma unroll
  for (int i = 0; i < 8; ++i) values[i] = first[i], values[8 + i] = second[i];
}

// 16 elements of two bytes by two accesses (`at` aligned to 16 bytes), or one, as f32.
template <typename T, int width>
__device__ __forceinline__ void load_16(const T* at, float (&values)[width]) {
  if constexpr (width == 1)
    load(at, values);
  else
    unpack_16<T>(load16(at), load16(at + 8), values);
}

}  // namespace warpmeter
