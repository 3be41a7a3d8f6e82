// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "cuda/stamp.cuh"
#include "kernels/micro/chase_shared.h"

namespace warpmeter {
namespace {

__global__ void chase_shared(ChaseSharedArgs args) {
  extern __shared__ char lines[];
  const std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(lines));
  for (std::uint32_t i = threadIdx.x; i < args.lines; i += blockDim.x) {
    *reinterpret_cast<std::uint32_t*>(lines + i * chase_shared_stride) =
        base + args.next[i] * chase_shared_stride;
  }
  std::uint32_t line = base;
  BlockTimer timer;
  timer.begin();
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (std::uint32_t i = 0; i < args.trips; ++i) {
#pragma unroll
      for (int j = 0; j < chase_shared_unroll; ++j) {
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(line)::"memory");
      }
    }
  }
  timer.end(line, args.stamp);
  if (threadIdx.x == 0) *args.finish = (line - base) / chase_shared_stride;
}

}  // namespace

void prepare_chase_shared(int bytes) {
  GPU_CHECK(
      cudaFuncSetAttribute(&chase_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

void launch_chase_shared(const ChaseSharedArgs& args, cudaStream_t stream) {
  chase_shared<<<1, 32, args.lines * chase_shared_stride, stream>>>(args);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
