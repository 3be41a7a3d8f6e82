// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace warpmeter {

// Elements of a 16-byte access.
template <typename T>
inline constexpr int full_width = 16 / sizeof(T);

__device__ __forceinline__ float to_float(float value) { return value; }
__device__ __forceinline__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

__device__ __forceinline__ float to_float(__half value) { return __half2float(value); }

__device__ __forceinline__ void round_to(float& to, float value) { to = value; }
__device__ __forceinline__ void round_to(__nv_bfloat16& to, float value) {
  to = __float2bfloat16_rn(value);
}

__device__ __forceinline__ void round_to(__half& to, float value) { to = __float2half_rn(value); }

// 16 bytes that nothing writes while the kernel runs.
__device__ __forceinline__ uint4 load16(const void* at) {
  uint4 v;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(at));
  return v;
}

// 16 bytes of memory that the kernel may write; stays in its place between other accesses.
__device__ __forceinline__ uint4 load16_in_order(const void* at) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at)
               : "memory");
  return v;
}

__device__ __forceinline__ uint2 load8(const void* at) {
  uint2 v;
  asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(at));
  return v;
}

__device__ __forceinline__ void store16(void* at, uint4 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}

template <typename T, int width>
__device__ __forceinline__ void unpack(const uint4& raw, float (&values)[width]) {
  const T* elements = reinterpret_cast<const T*>(&raw);
#pragma unroll
  for (int i = 0; i < width; ++i) values[i] = to_float(elements[i]);
}

// `width` elements from or to memory, as f32: one 16-byte access if width is full_width<T> (`at`
// must be aligned to it), else width is 1.
template <typename T, int width>
__device__ __forceinline__ void load(const T* at, float (&values)[width]) {
  static_assert(width == 1 || width == full_width<T>);
  if constexpr (width == 1)
    values[0] = to_float(*at);
  else
    unpack<T>(load16(at), values);
}

template <typename T, int width>
__device__ __forceinline__ void load_in_order(const T* at, float (&values)[width]) {
  static_assert(width == 1 || width == full_width<T>);
  if constexpr (width == 1)
    values[0] = to_float(*at);
  else
    unpack<T>(load16_in_order(at), values);
}

template <typename T, int width>
__device__ __forceinline__ void store(T* at, const float (&values)[width]) {
  static_assert(width == 1 || width == full_width<T>);
  if constexpr (width == 1) {
    round_to(*at, values[0]);
  } else {
    alignas(16) T elements[width];
#pragma unroll
    for (int i = 0; i < width; ++i) round_to(elements[i], values[i]);
    store16(at, *reinterpret_cast<const uint4*>(elements));
  }
}

}  // namespace warpmeter
