// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/gemm_decode.cuh"
#include "kernels/llm/cuda/launch.h"

namespace warpmeter {
namespace {

using namespace few_tokens;

constexpr int k_step = 32;  // of a warp: each lane takes 8 elements of a row

// Elements [at, at + 8) of a row of `columns`, zeros beyond its end; all zeros if `row` is null.
template <typename T, int width>
__device__ __forceinline__ uint4 load8(const T* row, int at, int columns) {
  if (row == nullptr || at >= columns) return {};
  if constexpr (width == 8) return load16(row + at);
  uint4 raw = {};
  T* elements = reinterpret_cast<T*>(&raw);
#pragma unroll
  for (int i = 0; i < 8; ++i) {  // no branches
    const T element = row[min(at + i, columns - 1)];
    elements[i] = at + i < columns ? element : T();
  }
  return raw;
}

// Fragments come from memory without shared memory between: a lane's 16 bytes of a row are k = 8 t
// ... 8 t + 7 for both operands, which permutes k inside a step, and a sum does not depend on the
// order of k.
template <typename T, int tiles, int width>
__global__ void __launch_bounds__(32 * warps)
    gemm_decode(const T* __restrict__ activations, const T* __restrict__ weights,
                T* __restrict__ result, int m, int n, int k) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int first = blockIdx.x * outputs;
  const T* low = row_of(weights, first + g, n, k);
  const T* high = row_of(weights, first + g + 8, n, k);
  const T* tokens[tiles];
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
    tokens[tile] = row_of(activations, tile * tokens_per_tile + g, m, k);

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
  store_sums(sums, result, m, n, first);
}

template <typename T, int width>
void launch(const GemmShape& shape, const T* activations, const T* weights, T* result,
            cudaStream_t stream) {
  with_tiles(shape.m, [&](auto tiles) {
    gemm_decode<T, tiles, width>
        <<<static_cast<unsigned>((shape.n + outputs - 1) / outputs), 32 * warps, 0, stream>>>(
            activations, weights, result, static_cast<int>(shape.m), static_cast<int>(shape.n),
            static_cast<int>(shape.k));
  });
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
