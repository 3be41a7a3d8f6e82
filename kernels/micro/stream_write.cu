// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "cuda/stamp.cuh"
#include "kernels/micro/pattern.h"
#include "kernels/micro/stream.h"
#include "kernels/micro/stream_access.cuh"

namespace warpmeter {
namespace {

__device__ __forceinline__ uint4 pattern_vector(std::uint64_t vector, std::uint32_t seed) {
  const std::uint32_t i = static_cast<std::uint32_t>(4 * vector);
  return {pattern_word(i, seed), pattern_word(i + 1, seed), pattern_word(i + 2, seed),
          pattern_word(i + 3, seed)};
}

__global__ void __launch_bounds__(stream_threads) stream_write(WriteArgs args) {
  BlockTimer timer;
  timer.begin();
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < args.passes; ++pass) {
#pragma unroll 1
    for (std::uint64_t tile = blockIdx.x; tile < args.tiles; tile += gridDim.x) {
      const std::uint64_t first = tile * (stream_tile / sizeof(uint4)) + threadIdx.x;
#pragma unroll
      for (int j = 0; j < stream_unroll; ++j) {
        const std::uint64_t vector = first + j * stream_threads;
        store16(args.data + vector, pattern_vector(vector, args.seed));
      }
    }
  }
  timer.end(args.seed, args.stamps == nullptr ? nullptr : args.stamps + blockIdx.x);
}

}  // namespace

const void* write_kernel() { return reinterpret_cast<const void*>(&stream_write); }

void launch_write(const WriteArgs& args, int blocks, cudaStream_t stream) {
  stream_write<<<blocks, stream_threads, 0, stream>>>(args);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
