// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <type_traits>

#include "kernels/llm/cuda/mma.cuh"
#include "kernels/llm/cuda/vector.cuh"

// What the matrix products for few tokens share: a block computes 16 columns of C for all tokens,
// weights as the 16-row operand of mma.sync, tokens as its 8 columns; its warps share k.
namespace warpmeter::few_tokens {

constexpr int warps = 8, outputs = 16, tokens_per_tile = 8;

// A row of a matrix of `rows` rows of k elements, or null beyond them.
template <typename T>
__device__ __forceinline__ const T* row_of(const T* matrix, int row, int rows, int k) {
  return row < rows ? matrix + std::int64_t{row} * k : nullptr;
}

// Adds up what the warps have and stores C of m x n, from column `first` on.
template <typename T, int tiles>
__device__ __forceinline__ void store_sums(const float4 (&sums)[tiles], T* result, int m, int n,
                                           int first) {
  __shared__ float4 partial[warps][tiles][32];
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
    partial[threadIdx.x / 32][tile][threadIdx.x % 32] = sums[tile];
  __syncthreads();
  // One result per thread: neighbours in a row of C.
  const float* values = &partial[0][0][0].x;
  for (int i = threadIdx.x; i < tiles * tokens_per_tile * outputs; i += 32 * warps) {
    const int token = i / outputs, output = i % outputs;
    if (token >= m || first + output >= n) continue;
    const int column = token % tokens_per_tile;
    const int element = 4 * (output % 8 * 4 + column / 2) + output / 8 * 2 + column % 2;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w)
      sum += values[(w * tiles + token / tokens_per_tile) * 128 + element];
    round_to(result[std::int64_t{token} * n + first + output], sum);
  }
}

// Calls f with the number of tiles, a constant, that m tokens need: at most 64.
template <class F>
void with_tiles(std::int64_t m, F f) {
  if (m <= 8) return f(std::integral_constant<int, 1>());
  if (m <= 16) return f(std::integral_constant<int, 2>());
  if (m <= 32) return f(std::integral_constant<int, 4>());
  f(std::integral_constant<int, 8>());
}

}  // namespace warpmeter::few_tokens
