// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/mma.cuh"

namespace warpmeter {
namespace {

constexpr int warps = 8, outputs = 16, tokens_per_tile = 8;
constexpr int k_step = 32;  // of a warp: each lane takes 8 elements of a row

// Elements [at, at + 8) of a row of `columns`, zeros beyond its end; all zeros if `row` is null.
template <typename T, int width>
__device__ __forceinline__ uint4 load8(const T* row, int at, int columns) {
  if (row == nullptr || at >= columns) return {};
  if constexpr (width == 8) return load16(row + at);
  uint4 raw = {};
  T* elements = reinterpret_cast<T*>(&raw);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    if (at + i < columns) elements[i] = row[at + i];
  return raw;
}

// A block computes `outputs` columns of C for all tokens. The weights are the 16-row operand of
// mma.sync, the tokens its 8 columns. The warps share k and add up in shared memory. Fragments come
// from memory without shared memory between: a lane's 16 bytes of a row are k = 8 t ... 8 t + 7 for
// both operands, which permutes k inside a step, and a sum does not depend on the order of k.
template <typename T, int tiles, int width>
__global__ void __launch_bounds__(32 * warps)
    gemm_decode(const T* __restrict__ activations, const T* __restrict__ weights,
                T* __restrict__ result, int m, int n, int k) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int first = blockIdx.x * outputs;
  const auto row_of = [k](const T* matrix, int row, int rows) {
    return row < rows ? matrix + std::int64_t{row} * k : nullptr;
  };
  const T* low = row_of(weights, first + g, n);
  const T* high = row_of(weights, first + g + 8, n);
  const T* tokens[tiles];
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
    tokens[tile] = row_of(activations, tile * tokens_per_tile + g, m);

  float4 sums[tiles] = {};
  // As many loads under way as registers allow.
  constexpr int unroll = width == 1 ? 1 : (tiles <= 2 ? 4 : 2);
#pragma unroll unroll
  for (int at = warp * k_step + 8 * t; at - 8 * t < k; at += warps * k_step) {
    const uint4 a = load8<T, width>(low, at, k), b = load8<T, width>(high, at, k);
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      const uint4 x = load8<T, width>(tokens[tile], at, k);
      multiply_add<T>(sums[tile], {a.x, b.x, a.y, b.y}, {x.x, x.y});
      multiply_add<T>(sums[tile], {a.z, b.z, a.w, b.w}, {x.z, x.w});
    }
  }

  __shared__ float4 partial[warps][tiles][32];
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile) partial[warp][tile][lane] = sums[tile];
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

template <typename T, int width>
void launch(const GemmShape& shape, const T* activations, const T* weights, T* result,
            cudaStream_t stream) {
  const auto with_tiles = [&](auto tiles) {
    gemm_decode<T, tiles, width>
        <<<static_cast<unsigned>((shape.n + outputs - 1) / outputs), 32 * warps, 0, stream>>>(
            activations, weights, result, static_cast<int>(shape.m), static_cast<int>(shape.n),
            static_cast<int>(shape.k));
  };
  if (shape.m <= 8) return with_tiles(std::integral_constant<int, 1>());
  if (shape.m <= 16) return with_tiles(std::integral_constant<int, 2>());
  if (shape.m <= 32) return with_tiles(std::integral_constant<int, 4>());
  with_tiles(std::integral_constant<int, 8>());
}

}  // namespace

void launch_gemm_decode(const GemmShape& shape, const void* activations, const void* weights,
                        void* result, cudaStream_t stream) {
  for_half_rows_of(shape.type, shape.k, [&](auto element, auto width) {
    using T = decltype(element);
    launch<T, width.value>(shape, static_cast<const T*>(activations),
                           static_cast<const T*>(weights), static_cast<T*>(result), stream);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
