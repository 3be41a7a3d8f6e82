// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch_moe.h"

namespace warpmeter {
namespace {

constexpr int threads = 128;

// blockIdx.x chooses the token, blockIdx.y a part of its row; each thread adds up `width` elements.
template <typename T, int width>
__global__ void __launch_bounds__(threads)
    moe_unpermute(const T* __restrict__ x, const std::int32_t* __restrict__ rows,
                  const float* __restrict__ weights, T* __restrict__ y, int top, int hidden) {
  const int at = static_cast<int>(blockIdx.y * threads + threadIdx.x) * width;
  if (at >= hidden) return;
  const std::int64_t token = blockIdx.x;
  rows += token * top;
  weights += token * top;
  float sums[width] = {};
#pragma unroll 4
  for (int j = 0; j < top; ++j) {
    float values[width];
    load(x + std::int64_t{rows[j]} * hidden + at, values);
#pragma unroll
    for (int i = 0; i < width; ++i) sums[i] += weights[j] * values[i];
  }
  store(y + token * hidden + at, sums);
}

}  // namespace

void launch_moe_unpermute(const PermuteShape& shape, const void* x, const void* rows,
                          const void* weights, void* y, cudaStream_t stream) {
  for_rows_of(shape.type, shape.hidden, [&](auto element, auto width) {
    using T = decltype(element);
    const std::int64_t pieces = shape.hidden / width;
    const dim3 blocks(static_cast<unsigned>(shape.tokens),
                      static_cast<unsigned>((pieces + threads - 1) / threads));
    moe_unpermute<T, width><<<blocks, threads, 0, stream>>>(
        static_cast<const T*>(x), static_cast<const std::int32_t*>(rows),
        static_cast<const float*>(weights), static_cast<T*>(y), static_cast<int>(shape.top),
        static_cast<int>(shape.hidden));
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
