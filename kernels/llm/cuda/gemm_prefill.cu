// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/gemm_tile.cuh"
#include "kernels/llm/cuda/launch.h"

namespace warpmeter {
namespace {

using namespace gemm_tile;

struct Sizes {
  int m, n, k;
};

template <typename T, int width>
__global__ void __launch_bounds__(threads, 2)
    gemm_prefill(const T* __restrict__ activations, const T* __restrict__ weights,
                 T* __restrict__ result, Sizes size) {
  extern __shared__ uint4 shared[];
  const int row = blockIdx.x * tile_m, column = blockIdx.y * tile_n;
  Sums<T> sums = {};
  sum_tile<T, width>(sums, {activations, row, size.m}, {weights, column, size.n}, size.k, shared);
  store_tile(sums, shared, result, size.n, {row, column, size.m});
}

template <typename T, int width>
void launch(const GemmShape& shape, const T* activations, const T* weights, T* result,
            cudaStream_t stream) {
  const auto kernel = gemm_prefill<T, width>;
  GPU_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  const dim3 blocks(static_cast<unsigned>((shape.m + tile_m - 1) / tile_m),
                    static_cast<unsigned>((shape.n + tile_n - 1) / tile_n));
  kernel<<<blocks, threads, shared_bytes, stream>>>(
      activations, weights, result,
      {static_cast<int>(shape.m), static_cast<int>(shape.n), static_cast<int>(shape.k)});
}

}  // namespace

void launch_gemm_prefill(const GemmShape& shape, const void* activations, const void* weights,
                         void* result, cudaStream_t stream) {
  for_half_rows_of(shape.type, shape.k, [&](auto element, auto width) {
    using T = decltype(element);
    launch<T, width.value>(shape, static_cast<const T*>(activations),
                           static_cast<const T*>(weights), static_cast<T*>(result), stream);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
