// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch_training.h"
#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/rms_norm_backward.h"

namespace warpmeter {
namespace {

constexpr int per_thread = columns_of_backward / 1024;

// `width` elements of f32.
template <int width>
__device__ __forceinline__ void store_sums(float* at, const float (&sums)[width]) {
  constexpr int piece = width < 4 ? 1 : 4;
#pragma unroll
  for (int first = 0; first < width; first += piece) {
    float values[piece];
#pragma unroll
    for (int i = 0; i < piece; ++i) values[i] = sums[first + i];
    store(at + first, values);
  }
}

// A block takes every gridDim.x-th row. Each thread keeps its elements of a row in registers, so
// that they are read once, and its gains (not single ones: they would not fit) and sums of
// dgain over all rows of the block.
template <typename T, int width>
__global__ void __launch_bounds__(1024)
    rms_norm_backward(const T* __restrict__ x, const T* __restrict__ gain, const T* __restrict__ dy,
                      T* __restrict__ dx, float* __restrict__ partial, std::int64_t rows,
                      int columns) {
  constexpr int parts = per_thread / width;
  const int step = static_cast<int>(blockDim.x) * width;
  const int first = static_cast<int>(threadIdx.x) * width;
  float gains[parts][width], sums[parts][width] = {};
#pragma unroll
  for (int part = 0; part < parts; ++part)
    if (width > 1 && first + part * step < columns) load(gain + first + part * step, gains[part]);
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t begin = row * columns + first;
    float xs[parts][width], gradients[parts][width];
    float squares = 0, sum = 0;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      if (first + part * step >= columns) continue;
      load(x + begin + part * step, xs[part]);
      load(dy + begin + part * step, gradients[part]);
      if constexpr (width == 1) load(gain + first + part * step, gains[part]);
#pragma unroll
      for (int i = 0; i < width; ++i) {
        squares += xs[part][i] * xs[part][i];
        sum += gains[part][i] * gradients[part][i] * xs[part][i];
      }
    }
    const float mean = reduce_block<Add>(squares) / static_cast<float>(columns);
    const float scale = rsqrtf(mean + rms_epsilon);
    const float factor =
        -reduce_block<Add>(sum) * scale * scale * scale / static_cast<float>(columns);
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      if (first + part * step >= columns) continue;
      float results[width];
      if constexpr (width == 1) load(gain + first + part * step, gains[part]);
#pragma unroll
      for (int i = 0; i < width; ++i) {
        const float at_gain = gains[part][i] * gradients[part][i];
        results[i] = scale * at_gain + factor * xs[part][i];
        sums[part][i] += gradients[part][i] * (xs[part][i] * scale);
      }
      store(dx + begin + part * step, results);
    }
  }
#pragma unroll
  for (int part = 0; part < parts; ++part)
    if (first + part * step < columns)
      store_sums(partial + std::int64_t{blockIdx.x} * columns + first + part * step, sums[part]);
}

constexpr int lanes = 8, groups = 32;

// dgain = the sum of `blocks` rows of partial. A block takes lanes x width columns, 128 bytes; each
// group of lanes adds every 32nd row, and the first one the groups' sums: always in the same order.
template <int width>
__global__ void __launch_bounds__(lanes* groups)
    sum_rows(const float* __restrict__ partial, float* __restrict__ dgain, int blocks,
             int columns) {
  __shared__ float of_group[groups][lanes][width];
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int group = static_cast<int>(threadIdx.x) / lanes;
  const int column = (static_cast<int>(blockIdx.x) * lanes + lane) * width;
  float sums[width] = {};
  if (column < columns) {
#pragma unroll 4
    for (int row = group; row < blocks; row += groups) {
      float values[width];
      load(partial + std::int64_t{row} * columns + column, values);
#pragma unroll
      for (int i = 0; i < width; ++i) sums[i] += values[i];
    }
  }
#pragma unroll
  for (int i = 0; i < width; ++i) of_group[group][lane][i] = sums[i];
  __syncthreads();
  if (group != 0 || column >= columns) return;
  for (int other = 1; other < groups; ++other)
#pragma unroll
    for (int i = 0; i < width; ++i) sums[i] += of_group[other][lane][i];
  store(dgain + column, sums);
}

}  // namespace

void launch_rms_norm_backward(const RowsShape& shape, const void* x, const void* gain,
                              const void* dy, void* dx, void* dgain, void* partial,
                              cudaStream_t stream) {
  const auto blocks = static_cast<int>(rms_norm_backward_blocks(shape));
  const auto columns = static_cast<int>(shape.columns);
  auto* sums = static_cast<float*>(partial);
  for_rows_of(shape.type, shape.columns, [&](auto element, auto width) {
    using T = decltype(element);
    rms_norm_backward<T, width><<<blocks, row_threads(shape.columns, per_thread), 0, stream>>>(
        static_cast<const T*>(x), static_cast<const T*>(gain), static_cast<const T*>(dy),
        static_cast<T*>(dx), sums, shape.rows, columns);
  });
  GPU_CHECK(cudaGetLastError());
  with_width(float(), shape.columns, [&](auto, auto width) {
    sum_rows<width><<<(columns / width + lanes - 1) / lanes, lanes * groups, 0, stream>>>(
        sums, static_cast<float*>(dgain), blocks, columns);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
