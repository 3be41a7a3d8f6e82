// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/mma.cuh"
#include "kernels/llm/cuda/tile.cuh"

namespace warpmeter {
namespace {

// A block computes 128 x 128 of C, each of its 2 x 4 warps 64 x 32, in steps of 32 along k.
constexpr int tile_m = 128, tile_n = 128, tile_k = 32, threads = 256;
constexpr int warp_m = 64, warp_n = 32, stages = 4;
constexpr int stage_elements = (tile_m + tile_n) * tile_k;
constexpr int result_pitch = tile_n + 8;  // of the result's tile: rows 16 B apart in the banks
constexpr int shared_bytes = stages * stage_elements * 2;
static_assert(tile_m * result_pitch * 2 <= shared_bytes);

struct Sizes {
  int m, n, k;
};

// The rows [first, first + 128) of a matrix of `rows` x `columns`, columns [column, column + 32),
// to shared memory; zeros beyond the matrix.
template <typename T, int width>
__device__ __forceinline__ void load_tile(T* tile, const T* matrix, int first, int rows, int column,
                                          int columns) {
#pragma unroll
  for (int i = 0; i < tile_m * tile_k / 8 / threads; ++i) {
    const int piece = i * threads + threadIdx.x;
    const int row = piece / (tile_k / 8), at = column + piece % (tile_k / 8) * 8;
    const int left = first + row < rows ? columns - at : 0;
    const T* from = matrix + std::int64_t{first + row} * columns + at;
    T* to = tile + swizzled(row, piece % (tile_k / 8));
    if constexpr (width == 8)
      copy16_async(to, left > 0 ? from : matrix, left > 0);
    else
      copy8_single(to, from, left);
  }
}

// Sums of a warp: 4 x 4 products of 16 x 8.
using Sums = float4[warp_m / 16][warp_n / 8];

template <typename T>
__device__ __forceinline__ void multiply_stage(Sums& sums, const T* a_tile, const T* b_tile,
                                               int warp_row, int warp_column) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < tile_k / 16; ++half) {
    uint4 a[warp_m / 16];
    uint4 b[warp_n / 16];  // two columns of 8 each
#pragma unroll
    for (int i = 0; i < warp_m / 16; ++i)
      a[i] = load_matrices(a_tile + swizzled(warp_row + 16 * i + lane % 16, 2 * half + lane / 16));
#pragma unroll
    for (int j = 0; j < warp_n / 16; ++j)
      b[j] = load_matrices(b_tile + swizzled(warp_column + 16 * j + lane / 16 * 8 + lane % 8,
                                             2 * half + lane / 8 % 2));
#pragma unroll
    for (int i = 0; i < warp_m / 16; ++i)
#pragma unroll
      for (int j = 0; j < warp_n / 16; ++j) {
        multiply_add<T>(sums[i][2 * j], a[i], {b[j].x, b[j].y});
        multiply_add<T>(sums[i][2 * j + 1], a[i], {b[j].z, b[j].w});
      }
  }
}

// Through shared memory, so that rows leave in pieces of 16 bytes.
template <typename T>
__device__ __forceinline__ void store_result(const Sums& sums, T* tile, T* result,
                                             const Sizes& size, int warp_row, int warp_column) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  __syncthreads();  // others may still be reading the last stage
#pragma unroll
  for (int i = 0; i < warp_m / 16; ++i)
#pragma unroll
    for (int j = 0; j < warp_n / 8; ++j) {
      T* low = tile + (warp_row + 16 * i + g) * result_pitch + warp_column + 8 * j + 2 * t;
      store_pair(low, sums[i][j].x, sums[i][j].y);
      store_pair(low + 8 * result_pitch, sums[i][j].z, sums[i][j].w);
    }
  __syncthreads();
  const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
  for (int piece = threadIdx.x; piece < tile_m * tile_n / 8; piece += threads) {
    const int row = piece / (tile_n / 8), column = piece % (tile_n / 8) * 8;
    if (first_row + row >= size.m) return;
    const T* from = tile + row * result_pitch + column;
    T* to = result + std::int64_t{first_row + row} * size.n + first_column + column;
    if (size.n % 8 == 0 && first_column + column < size.n)
      store16(to, *reinterpret_cast<const uint4*>(from));
    else
      for (int i = 0; i < 8 && first_column + column + i < size.n; ++i) to[i] = from[i];
  }
}

template <typename T, int width>
__global__ void __launch_bounds__(threads, 2)
    gemm_prefill(const T* __restrict__ activations, const T* __restrict__ weights,
                 T* __restrict__ result, Sizes size) {
  extern __shared__ uint4 shared[];
  T* const tiles = reinterpret_cast<T*>(shared);
  const int warp = threadIdx.x / 32;
  const int warp_row = warp % 2 * warp_m, warp_column = warp / 2 * warp_n;
  const int steps = (size.k + tile_k - 1) / tile_k;
  const auto fetch = [&](int step) {
    if (step < steps) {
      T* tile = tiles + step % stages * stage_elements;
      load_tile<T, width>(tile, activations, blockIdx.x * tile_m, size.m, step * tile_k, size.k);
      load_tile<T, width>(tile + tile_m * tile_k, weights, blockIdx.y * tile_n, size.n,
                          step * tile_k, size.k);
    }
    commit_copies();
  };
#pragma unroll
  for (int step = 0; step < stages - 1; ++step) fetch(step);
  Sums sums = {};
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_copies<stages - 2>();
    __syncthreads();  // all see this stage, and none reads the one that is fetched next
    fetch(step + stages - 1);
    const T* tile = tiles + step % stages * stage_elements;
    multiply_stage(sums, tile, tile + tile_m * tile_k, warp_row, warp_column);
  }
  wait_copies<0>();
  store_result(sums, tiles, result, size, warp_row, warp_column);
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
