// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "cuda/stamp.cuh"
#include "kernels/micro/stream.h"
#include "kernels/micro/stream_access.cuh"

namespace warpmeter {
namespace {

template <LoadPath path>
__global__ void __launch_bounds__(stream_threads) stream_read(ReadArgs args) {
  std::uint32_t sum = 0;
  BlockTimer timer;
  timer.begin();
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < args.passes; ++pass) {
#pragma unroll 1
    for (std::uint64_t tile = blockIdx.x; tile < args.tiles; tile += gridDim.x) {
      const uint4* from = args.data + tile * (stream_tile / sizeof(uint4)) + threadIdx.x;
      uint4 v[stream_unroll];
#pragma unroll
      for (int j = 0; j < stream_unroll; ++j) v[j] = load16<path>(from + j * stream_threads);
#pragma unroll
      for (int j = 0; j < stream_unroll; ++j) sum += v[j].x + v[j].y + v[j].z + v[j].w;
    }
  }
  timer.end(sum, args.stamps == nullptr ? nullptr : args.stamps + blockIdx.x);
  args.sums[blockIdx.x * stream_threads + threadIdx.x] = sum;
}

}  // namespace

const void* read_kernel(LoadPath path) {
  return path == LoadPath::ca ? reinterpret_cast<const void*>(&stream_read<LoadPath::ca>)
                              : reinterpret_cast<const void*>(&stream_read<LoadPath::cg>);
}

void launch_read(const ReadArgs& args, LoadPath path, int blocks, cudaStream_t stream) {
  if (path == LoadPath::ca) {
    stream_read<LoadPath::ca><<<blocks, stream_threads, 0, stream>>>(args);
  } else {
    stream_read<LoadPath::cg><<<blocks, stream_threads, 0, stream>>>(args);
  }
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
