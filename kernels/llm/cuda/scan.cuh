// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

namespace warpmeter {

// A number of tokens and the sum of their weights.
struct Sum {
  std::uint64_t count, mass;
};
__device__ __forceinline__ Sum operator+(Sum a, Sum b) {
  return {a.count + b.count, a.mass + b.mass};
}
__device__ __forceinline__ Sum shuffle(Sum sum, unsigned lane) {
  return {__shfl_sync(~0u, sum.count, lane), __shfl_sync(~0u, sum.mass, lane)};
}

struct Scanned {
  Sum before;  // of all threads before this one
  Sum total;   // of all threads
};

// The sum of the lanes up to this one.
__device__ __forceinline__ Sum scan_warp(Sum sum) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const Sum earlier = shuffle(sum, lane - distance);
    if (lane >= distance) sum = sum + earlier;
  }
  return sum;
}

// For blocks of 32 whole warps; all threads must call it.
__device__ __forceinline__ Scanned scan_block(Sum sum) {
  __shared__ Sum of_warp[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Sum in_warp = scan_warp(sum);
  __syncthreads();  // an earlier scan may still be reading
  if (lane == 31) of_warp[warp] = in_warp;
  __syncthreads();
  const Sum warps = scan_warp(of_warp[lane]);
  Sum before = shuffle(warps, warp == 0 ? 0 : warp - 1);
  if (warp == 0) before = {0, 0};
  before = before + in_warp;
  return {{before.count - sum.count, before.mass - sum.mass}, shuffle(warps, 31)};
}

}  // namespace warpmeter
