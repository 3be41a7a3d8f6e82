// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "cuda/stamp.cuh"
#include "kernels/micro/stream.h"
#include "kernels/micro/stream_access.cuh"

namespace warpmeter {
namespace {

constexpr std::uint64_t tile_vectors = stream_tile / sizeof(uint4);

__global__ void __launch_bounds__(stream_threads) stream_copy(CopyArgs args) {
  const std::uint64_t tiles = args.vectors / tile_vectors;
  std::uint32_t last = 0;
  BlockTimer timer;
  timer.begin();
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < args.passes; ++pass) {
#pragma unroll 1
    for (std::uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const std::uint64_t first = tile * tile_vectors + threadIdx.x;
      uint4 v[stream_unroll];
#pragma unroll
      for (int j = 0; j < stream_unroll; ++j) {
        v[j] = load16<LoadPath::cg>(args.from + first + j * stream_threads);
      }
#pragma unroll
      for (int j = 0; j < stream_unroll; ++j) store16(args.to + first + j * stream_threads, v[j]);
      last = v[stream_unroll - 1].x;
    }
    // What is left of the last, incomplete tile; sizes below one tile have nothing else.
#pragma unroll 1
    for (std::uint64_t i = tiles * tile_vectors + blockIdx.x * stream_threads + threadIdx.x;
         i < args.vectors; i += std::uint64_t{gridDim.x} * stream_threads) {
      store16(args.to + i, load16<LoadPath::cg>(args.from + i));
    }
  }
  timer.end(last, args.stamps == nullptr ? nullptr : args.stamps + blockIdx.x);
}

}  // namespace

const void* copy_kernel() { return reinterpret_cast<const void*>(&stream_copy); }

void launch_copy(const CopyArgs& args, int blocks, cudaStream_t stream) {
  stream_copy<<<blocks, stream_threads, 0, stream>>>(args);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
