// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/gemm_tile.cuh"
#include "kernels/llm/cuda/launch_gemm.h"

namespace warpmeter {
namespace {

using namespace gemm_tile;
using Int8 = std::int8_t;

struct Sizes {
  int m, n, k;
};

// Factors of the rows and columns of C.
struct Scales {
  const float *rows, *columns;
};

// f32(sum) (row factor x column factor), of the tile at `place`; those beyond C are not read.
__device__ __forceinline__ void scale(const Sums<Int8>& sums, Sums<float>& scaled,
                                      const Scales& scales, const Place& place, int n) {
  const int lane = threadIdx.x % 32;
  const int row = place.row + warp_row() + lane / 4;
  const int column = place.column + warp_column() + 2 * (lane % 4);
#pragma unroll
  for (int i = 0; i < warp_m / 16; ++i) {
    const int at = row + 16 * i;
    const float low = at < place.end ? scales.rows[at] : 0;
    const float high = at + 8 < place.end ? scales.rows[at + 8] : 0;
#pragma unroll
    for (int j = 0; j < warp_n / 8; ++j) {
      const int to = column + 8 * j;
      const float left = to < n ? scales.columns[to] : 0;
      const float right = to + 1 < n ? scales.columns[to + 1] : 0;
      const int4& sum = sums[i][j];
      scaled[i][j] = {
          static_cast<float>(sum.x) * (low * left), static_cast<float>(sum.y) * (low * right),
          static_cast<float>(sum.z) * (high * left), static_cast<float>(sum.w) * (high * right)};
    }
  }
}

template <int width>
__global__ void __launch_bounds__(threads, 2)
    gemm_int8(const Int8* __restrict__ activations, const Int8* __restrict__ weights, Scales scales,
              __nv_bfloat16* __restrict__ result, Sizes size) {
  extern __shared__ uint4 shared[];
  const Place place = {static_cast<int>(blockIdx.x) * tile_m, static_cast<int>(blockIdx.y) * tile_n,
                       size.m};
  Sums<Int8> sums = {};
  sum_tile<Int8, width>(sums, {activations, place.row, size.m}, {weights, place.column, size.n},
                        size.k, shared);
  Sums<float> scaled;
  scale(sums, scaled, scales, place, size.n);
  store_tile(scaled, shared, result, size.n, place);
}

}  // namespace

void launch_gemm_int8(const GemmShape& shape, const void* activations, const void* weights,
                      const void* token_scales, const void* channel_scales, void* result,
                      cudaStream_t stream) {
  with_width(Int8(), shape.k, [&](auto, auto width) {
    const auto kernel = gemm_int8<width.value>;
    GPU_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    const dim3 blocks(static_cast<unsigned>((shape.m + tile_m - 1) / tile_m),
                      static_cast<unsigned>((shape.n + tile_n - 1) / tile_n));
    kernel<<<blocks, threads, shared_bytes, stream>>>(
        static_cast<const Int8*>(activations), static_cast<const Int8*>(weights),
        {static_cast<const float*>(token_scales), static_cast<const float*>(channel_scales)},
        static_cast<__nv_bfloat16*>(result),
        {static_cast<int>(shape.m), static_cast<int>(shape.n), static_cast<int>(shape.k)});
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
