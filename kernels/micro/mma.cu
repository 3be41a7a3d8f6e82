// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "cuda/stamp.cuh"
#include "kernels/micro/mma.h"

namespace warpmeter {
namespace {

__device__ __forceinline__ void multiply(float4& c, const uint4& a, const uint2& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

__global__ void __launch_bounds__(mma_threads) mma_throughput(MmaArgs args) {
  const unsigned lane = threadIdx.x % 32;
  const uint4 a = reinterpret_cast<const uint4*>(args.a)[lane];
  uint2 b[mma_accumulators];
  float4 c[mma_accumulators] = {};
#pragma unroll
  for (int j = 0; j < mma_accumulators; ++j) {
    b[j] = reinterpret_cast<const uint2*>(args.b)[j * 32 + lane];
  }
  BlockTimer timer;
  timer.begin();
#pragma unroll 1
  for (std::uint32_t i = 0; i < args.trips; ++i) {
#pragma unroll
    for (int k = 0; k < mma_unroll; ++k) {
#pragma unroll
      for (int j = 0; j < mma_accumulators; ++j) multiply(c[j], a, b[j]);
    }
  }
  std::uint32_t last = 0;
#pragma unroll
  for (int j = 0; j < mma_accumulators; ++j) last ^= __float_as_uint(c[j].x);
  timer.end(last, args.stamps + blockIdx.x);
  const unsigned warp = (blockIdx.x * mma_threads + threadIdx.x) / 32;
#pragma unroll
  for (int j = 0; j < mma_accumulators; ++j) {
    args.result[(warp * mma_accumulators + j) * 32 + lane] = c[j];
  }
}

}  // namespace

const void* mma_kernel() { return reinterpret_cast<const void*>(&mma_throughput); }

void launch_mma(const MmaArgs& args, int blocks, cudaStream_t stream) {
  mma_throughput<<<blocks, mma_threads, 0, stream>>>(args);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
