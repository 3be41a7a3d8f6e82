// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "cuda/stamp.cuh"
#include "kernels/micro/chase.h"

namespace warpmeter {
namespace {

template <LoadPath path>
__device__ __forceinline__ void hop(const char*& line) {
  if constexpr (path == LoadPath::ca) {
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(line)::"memory");
  } else {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(line)::"memory");
  }
}

template <LoadPath path>
__global__ void chase(ChaseArgs args) {
  if (args.sm >= 0 && sm_id() != static_cast<std::uint32_t>(args.sm)) return;
  if (atomicExch(args.claim, 1u) != 0) return;
  const char* line = args.start;
#pragma unroll 1
  for (std::uint32_t i = 0; i < args.warm_hops; ++i) hop<path>(line);
  wait_for(static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(line)));
  BlockTimer timer;
  timer.begin();
#pragma unroll 1
  for (std::uint32_t i = 0; i < args.trips; ++i) {
#pragma unroll
    for (int j = 0; j < chase_unroll; ++j) hop<path>(line);
  }
  timer.end(static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(line)), args.stamp);
  *args.finish = line;
}

}  // namespace

const void* chase_kernel(LoadPath path) {
  return path == LoadPath::ca ? reinterpret_cast<const void*>(&chase<LoadPath::ca>)
                              : reinterpret_cast<const void*>(&chase<LoadPath::cg>);
}

void launch_chase(const ChaseArgs& args, LoadPath path, int blocks, cudaStream_t stream) {
  if (path == LoadPath::ca) {
    chase<LoadPath::ca><<<blocks, 1, 0, stream>>>(args);
  } else {
    chase<LoadPath::cg><<<blocks, 1, 0, stream>>>(args);
  }
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
