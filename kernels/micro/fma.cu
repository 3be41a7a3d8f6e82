// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "cuda/stamp.cuh"
#include "kernels/micro/fma.h"

namespace warpmeter {
namespace {

__device__ __forceinline__ void step(float& x, float scale, float offset) {
  asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(scale), "f"(offset));
}

__global__ void __launch_bounds__(32) fma_chain(FmaArgs args) {
  float x = args.start[threadIdx.x];
  BlockTimer timer;
  wait_for(__float_as_uint(x));
  timer.begin();
#pragma unroll 1
  for (std::uint32_t i = 0; i < args.trips; ++i) {
#pragma unroll
    for (int j = 0; j < fma_chain_unroll; ++j) step(x, args.scale, args.offset);
  }
  timer.end(__float_as_uint(x), args.stamps);
  args.result[threadIdx.x] = x;
}

__global__ void __launch_bounds__(fma_threads) fma_throughput(FmaArgs args) {
  float x[fma_chains];
#pragma unroll
  for (int j = 0; j < fma_chains; ++j) x[j] = args.start[threadIdx.x] + static_cast<float>(j);
  BlockTimer timer;
  timer.begin();
#pragma unroll 1
  for (std::uint32_t i = 0; i < args.trips; ++i) {
#pragma unroll
    for (int k = 0; k < fma_unroll; ++k) {
#pragma unroll
      for (int j = 0; j < fma_chains; ++j) step(x[j], args.scale, args.offset);
    }
  }
  float sum = 0;
#pragma unroll
  for (int j = 0; j < fma_chains; ++j) sum = __fadd_rn(sum, x[j]);
  timer.end(__float_as_uint(sum), args.stamps + blockIdx.x);
  args.result[blockIdx.x * fma_threads + threadIdx.x] = sum;
}

}  // namespace

const void* fma_chain_kernel() { return reinterpret_cast<const void*>(&fma_chain); }
const void* fma_throughput_kernel() { return reinterpret_cast<const void*>(&fma_throughput); }

void launch_fma_chain(const FmaArgs& args, cudaStream_t stream) {
  fma_chain<<<1, 32, 0, stream>>>(args);
  GPU_CHECK(cudaGetLastError());
}

void launch_fma_throughput(const FmaArgs& args, int blocks, cudaStream_t stream) {
  fma_throughput<<<blocks, fma_threads, 0, stream>>>(args);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
