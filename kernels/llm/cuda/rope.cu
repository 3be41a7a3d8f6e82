// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <numeric>

#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch.h"

namespace warpmeter {
namespace {

constexpr int threads = 256;

// Values of an f32 table for `width` elements: one or two accesses of 16 bytes, or one of 4.
template <int width>
__device__ __forceinline__ void load_table(const float* at, float (&values)[width]) {
  if constexpr (width <= 4) {
    load<float, width>(at, values);
  } else {
    float low[4], high[4];
    load<float, 4>(at, low);
    load<float, 4>(at + 4, high);
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = low[i], values[i + 4] = high[i];
  }
}

// One thread turns `width` pairs of a head; neighbours take the next of the same head. y may be x.
template <typename T, int width>
__global__ void __launch_bounds__(threads)
    rope(const T* x, const std::int32_t* __restrict__ positions, const float* __restrict__ cosines,
         const float* __restrict__ sines, T* y, int heads, int half, std::int64_t stride,
         std::int64_t pieces) {
  const std::int64_t piece = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (piece >= pieces) return;
  const std::int64_t head = piece * width / half;  // of all tokens
  const int i = static_cast<int>(piece * width - head * half);
  const std::int64_t token = head / heads;
  const std::int64_t first = token * stride + (head - token * heads) * 2 * half + i;
  const std::int64_t angle = std::int64_t{positions[token]} * half + i;
  float x1[width], x2[width], c[width], s[width], y1[width], y2[width];
  load_in_order(x + first, x1);
  load_in_order(x + first + half, x2);
  load_table<width>(cosines + angle, c);
  load_table<width>(sines + angle, s);
#pragma unroll
  for (int j = 0; j < width; ++j) {
    y1[j] = x1[j] * c[j] - x2[j] * s[j];
    y2[j] = x2[j] * c[j] + x1[j] * s[j];
  }
  store(y + first, y1);
  store(y + first + half, y2);
}

}  // namespace

void launch_rope(const RopeShape& shape, const void* x, const void* positions, const void* cosines,
                 const void* sines, void* y, cudaStream_t stream) {
  const std::int64_t half = shape.head_size / 2, stride = token_stride(shape);
  for_rows_of(shape.type, std::gcd(half, stride), [&](auto element, auto width) {
    using T = decltype(element);
    // The f32 tables are aligned too: half is a multiple of 4 if it is one of 16 bytes of T.
    const std::int64_t pieces = shape.tokens * shape.heads * half / width;
    rope<T, width><<<static_cast<unsigned>((pieces + threads - 1) / threads), threads, 0, stream>>>(
        static_cast<const T*>(x), static_cast<const std::int32_t*>(positions),
        static_cast<const float*>(cosines), static_cast<const float*>(sines), static_cast<T*>(y),
        static_cast<int>(shape.heads), static_cast<int>(half), stride, pieces);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
