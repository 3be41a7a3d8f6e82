// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "kernels/llm/cuda/mma.cuh"
#include "kernels/llm/cuda/tile.cuh"
#include "kernels/llm/cuda/vector.cuh"

// What the matrix products by mma.sync share: a block computes 128 x 128 of C, each of its 2 x 4
// warps 64 x 32, in stages of 64 bytes along k: 32 elements of 2 bytes, 64 of one.
namespace warpmeter::gemm_tile {

constexpr int tile_m = 128, tile_n = 128, row_pieces = 4, threads = 256;
constexpr int warp_m = 64, warp_n = 32, stages = 4;
constexpr int stage_bytes = (tile_m + tile_n) * row_pieces * 16;
constexpr int result_pitch = tile_n + 8;  // of the result's tile: rows 16 B apart in the banks
constexpr int shared_bytes = stages * stage_bytes;
static_assert(tile_m * result_pitch * 2 <= shared_bytes);

template <typename T>
inline constexpr int tile_k = row_pieces* full_width<T>;

// Rows [first, end) of a matrix of rows of k elements; what a block takes of them are the first
// 128.
template <typename T>
struct Rows {
  const T* matrix;
  int first, end;
};

// Sums of a warp: 4 x 4 products of 16 x 8.
template <typename T>
using Sums = SumOf<T>[warp_m / 16][warp_n / 8];

__device__ __forceinline__ int warp_row() { return threadIdx.x / 32 % 2 * warp_m; }
__device__ __forceinline__ int warp_column() { return threadIdx.x / 64 * warp_n; }

// A stage's part of 128 rows, from element `column` of each, to shared memory; zeros beyond the
// rows and beyond k.
template <typename T, int width>
__device__ __forceinline__ void load_rows(T* tile, const Rows<T>& rows, int column, int k) {
#pragma unroll
  for (int i = 0; i < tile_m * row_pieces / threads; ++i) {
    const int piece = i * threads + threadIdx.x;
    const int row = piece / row_pieces, at = column + piece % row_pieces * full_width<T>;
    const int left = rows.first + row < rows.end ? k - at : 0;
    const T* from = rows.matrix + std::int64_t{rows.first + row} * k + at;
    T* to = tile + swizzled<T>(row, piece % row_pieces);
    if constexpr (width > 1)
      copy16_async(to, left > 0 ? from : rows.matrix, left > 0);
    else
      copy_single(to, from, left);
  }
}

template <typename T>
__device__ __forceinline__ void multiply_stage(Sums<T>& sums, const T* a_tile, const T* b_tile) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < row_pieces / 2; ++half) {  // 32 bytes along k
    uint4 a[warp_m / 16];
    uint4 b[warp_n / 16];  // two columns of 8 each
#pragma unroll
    for (int i = 0; i < warp_m / 16; ++i)
      a[i] = load_matrices(a_tile +
                           swizzled<T>(warp_row() + 16 * i + lane % 16, 2 * half + lane / 16));
#pragma unroll
    for (int j = 0; j < warp_n / 16; ++j)
      b[j] = load_matrices(b_tile + swizzled<T>(warp_column() + 16 * j + lane / 16 * 8 + lane % 8,
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

// The sums of a block's tile, from zero; `shared` holds shared_bytes. Pieces of 16 bytes come in
// the background if width is full_width<T>, else single elements at once (width 1).
template <typename T, int width>
__device__ __forceinline__ void sum_tile(Sums<T>& sums, const Rows<T>& a, const Rows<T>& b, int k,
                                         void* shared) {
  T* const tiles = static_cast<T*>(shared);
  constexpr int operand = tile_m * tile_k<T>;  // elements
  const int steps = (k + tile_k<T> - 1) / tile_k<T>;
  const auto fetch = [&](int step) {
    if (step < steps) {
      T* tile = tiles + step % stages * 2 * operand;
      load_rows<T, width>(tile, a, step * tile_k<T>, k);
      load_rows<T, width>(tile + operand, b, step * tile_k<T>, k);
    }
    commit_copies();
  };
#pragma unroll
  for (int step = 0; step < stages - 1; ++step) fetch(step);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_copies<stages - 2>();
    __syncthreads();  // all see this stage, and none reads the one that is fetched next
    fetch(step + stages - 1);
    const T* tile = tiles + step % stages * 2 * operand;
    multiply_stage<T>(sums, tile, tile + operand);
  }
  wait_copies<0>();
}

// Where a tile of C lies: its corner, and the end of the rows that are written.
struct Place {
  int row, column, end;
};

// To C of rows of n, through shared memory, so that rows leave in pieces of 16 bytes.
template <typename Result>
__device__ __forceinline__ void store_tile(const float4 (&sums)[warp_m / 16][warp_n / 8],
                                           void* shared, Result* result, int n,
                                           const Place& place) {
  Result* const tile = static_cast<Result*>(shared);
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  __syncthreads();  // others may still be reading the last stage
#pragma unroll
  for (int i = 0; i < warp_m / 16; ++i)
#pragma unroll
    for (int j = 0; j < warp_n / 8; ++j) {
      Result* low = tile + (warp_row() + 16 * i + g) * result_pitch + warp_column() + 8 * j + 2 * t;
      store_pair(low, sums[i][j].x, sums[i][j].y);
      store_pair(low + 8 * result_pitch, sums[i][j].z, sums[i][j].w);
    }
  __syncthreads();
  for (int piece = threadIdx.x; piece < tile_m * tile_n / 8; piece += threads) {
    const int row = piece / (tile_n / 8), column = place.column + piece % (tile_n / 8) * 8;
    if (place.row + row >= place.end) return;
    const Result* from = tile + row * result_pitch + (column - place.column);
    Result* to = result + std::int64_t{place.row + row} * n + column;
    if (n % 8 == 0 && column < n)
      store16(to, *reinterpret_cast<const uint4*>(from));
    else
      for (int i = 0; i < 8 && column + i < n; ++i) to[i] = from[i];
  }
}

}  // namespace warpmeter::gemm_tile
