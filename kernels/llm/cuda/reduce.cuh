// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

namespace warpmeter {

// 2^x by ex2.approx: at most 2 units in the last place off.
__device__ __forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

struct Add {
  static constexpr float neutral = 0;
  static __device__ __forceinline__ float of(float a, float b) { return a + b; }
};

struct Max {
  static constexpr float neutral = -3.402823466e38f;  // the lowest finite f32
  static __device__ __forceinline__ float of(float a, float b) { return fmaxf(a, b); }
};

// The warp's values combined, in every lane.
template <class Op>
__device__ __forceinline__ float reduce_warp(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value = Op::of(value, __shfl_xor_sync(~0u, value, distance));
  return value;
}

// The block's values combined, in every thread. Blocks are of whole warps, at most 32; all threads
// must call it.
template <class Op>
__device__ __forceinline__ float reduce_block(float value) {
  __shared__ float of_warp[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  value = reduce_warp<Op>(value);
  __syncthreads();  // an earlier reduction may still be reading
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  return reduce_warp<Op>(lane < warps ? of_warp[lane] : Op::neutral);
}

}  // namespace warpmeter
