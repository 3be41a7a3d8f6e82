// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>

#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/gemm_tile.cuh"
#include "kernels/llm/cuda/launch_gemm.h"

namespace warpmeter {
namespace {

using namespace gemm_tile;

struct Sizes {
  int experts, n, k;
};

// Rows [first, end) of C, at most the tile's, and their expert; -1: there are no more.
struct RowsOfTile {
  int expert, first, end;
};

// Tile `index` of those that cover each expert's rows from its first one on. Every warp finds it by
// itself: 32 experts at a time, counts of tiles summed over lanes.
__device__ __forceinline__ RowsOfTile find_rows(const int* offsets, int experts, int index) {
  const int lane = threadIdx.x % 32;
  for (int chunk = 0; chunk < experts; chunk += 32) {
    const int expert = chunk + lane;
    const int first = offsets[min(expert, experts)], end = offsets[min(expert + 1, experts)];
    const int tiles = (end - first + tile_m - 1) / tile_m;
    int upto = tiles;  // of this expert and those before it in the chunk
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, upto, step);
      if (lane >= step) upto += other;
    }
    const unsigned beyond = __ballot_sync(~0u, upto > index);
    if (beyond != 0) {
      const int from = __ffs(static_cast<int>(beyond)) - 1;
      const int row = first + (index - upto + tiles) * tile_m;
      return {chunk + from, __shfl_sync(~0u, row, from), __shfl_sync(~0u, end, from)};
    }
    index -= __shfl_sync(~0u, upto, 31);
  }
  return {-1, 0, 0};
}

template <typename T, int width>
__global__ void __launch_bounds__(threads, 2)
    gemm_grouped(const T* __restrict__ activations, const T* __restrict__ weights,
                 const int* __restrict__ offsets, T* __restrict__ result, Sizes size) {
  extern __shared__ uint4 shared[];
  const RowsOfTile rows = find_rows(offsets, size.experts, blockIdx.x);
  if (rows.expert < 0) return;
  const int column = blockIdx.y * tile_n;
  const T* of_expert = weights + std::int64_t{rows.expert} * size.n * size.k;
  Sums<T> sums = {};
  sum_tile<T, width>(sums, {activations, rows.first, rows.end}, {of_expert, column, size.n}, size.k,
                     shared);
  store_tile(sums, shared, result, size.n, {rows.first, column, rows.end});
}

}  // namespace

void launch_gemm_grouped(const GroupedGemmShape& shape, const void* activations,
                         const void* weights, const void* offsets, void* result,
                         cudaStream_t stream) {
  // As many as there can be: whole tiles, and a rest in each expert that has rows.
  const std::int64_t most_tiles = shape.rows / tile_m + std::min(shape.experts, shape.rows);
  const dim3 blocks(static_cast<unsigned>(most_tiles),
                    static_cast<unsigned>((shape.n + tile_n - 1) / tile_n));
  for_half_rows_of(shape.type, shape.k, [&](auto element, auto width) {
    using T = decltype(element);
    const auto kernel = gemm_grouped<T, width.value>;
    GPU_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    kernel<<<blocks, threads, shared_bytes, stream>>>(
        static_cast<const T*>(activations), static_cast<const T*>(weights),
        static_cast<const int*>(offsets), static_cast<T*>(result),
        {static_cast<int>(shape.experts), static_cast<int>(shape.n), static_cast<int>(shape.k)});
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
