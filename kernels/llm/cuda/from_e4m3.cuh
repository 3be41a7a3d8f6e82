// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace warpmeter {

// Two e4m3 numbers, which stand in the high byte of each half of `pair`, as two of half precision,
// exactly (NaN excepted, which becomes 480). No instruction does this before sm_89. e4m3 is
// s eeee mmm with a bias of 7: with the exponent moved to the low end of the wider exponent's field
// and the mantissa below it, the bits are the number times 2^(7 - bias) in the other format, e4m3's
// subnormal numbers included, and a product with a power of two is exact.
template <typename T>
__device__ __forceinline__ unsigned from_e4m3(unsigned pair);

// s 0eeee mmm0000000, bias 15.
template <>
__device__ __forceinline__ unsigned from_e4m3<__half>(unsigned pair) {
  const unsigned bits = (pair & 0x80008000) | (pair & 0x7f007f00) >> 1;
  const __half2 scaled = __hmul2(reinterpret_cast<const __half2&>(bits), __float2half2_rn(0x1p8f));
  return reinterpret_cast<const unsigned&>(scaled);
}

// s 0000eeee mmm0000, bias 127.
template <>
__device__ __forceinline__ unsigned from_e4m3<__nv_bfloat16>(unsigned pair) {
  const unsigned bits = (pair & 0x80008000) | (pair & 0x7f007f00) >> 4;
  const __nv_bfloat162 scaled =
      __hmul2(reinterpret_cast<const __nv_bfloat162&>(bits), __float2bfloat162_rn(0x1p120f));
  return reinterpret_cast<const unsigned&>(scaled);
}

}  // namespace warpmeter
