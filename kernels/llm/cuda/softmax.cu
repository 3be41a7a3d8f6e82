// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/exponentials.cuh"
#include "kernels/llm/cuda/launch.h"

namespace warpmeter {
namespace {

constexpr int per_thread = columns_in_registers / 1024;

// One block per row. Each thread keeps its elements in registers, so that x is read once and each
// exponential is taken once.
template <typename T, int width>
__global__ void __launch_bounds__(1024)
    softmax(const T* __restrict__ x, T* __restrict__ y, int columns) {
  x += std::int64_t{blockIdx.x} * columns;
  y += std::int64_t{blockIdx.x} * columns;
  float values[per_thread / width][width];
  float top = Max::neutral;
#pragma unroll
  for (int part = 0; part < per_thread / width; ++part) {
    const int at = static_cast<int>(part * blockDim.x + threadIdx.x) * width;
    if (at >= columns) continue;
    load(x + at, values[part]);
#pragma unroll
    for (int i = 0; i < width; ++i) top = fmaxf(top, values[part][i]);
  }
  const float top_log2 = reduce_block<Max>(top) * log2_e;
  float sum = 0;
#pragma unroll
  for (int part = 0; part < per_thread / width; ++part) {
    if (static_cast<int>(part * blockDim.x + threadIdx.x) * width >= columns) continue;
#pragma unroll
    for (int i = 0; i < width; ++i) sum += values[part][i] = exp_below(values[part][i], top_log2);
  }
  const float scale = 1 / reduce_block<Add>(sum);
#pragma unroll
  for (int part = 0; part < per_thread / width; ++part) {
    const int at = static_cast<int>(part * blockDim.x + threadIdx.x) * width;
    if (at >= columns) continue;
#pragma unroll
    for (int i = 0; i < width; ++i) values[part][i] *= scale;
    store(y + at, values[part]);
  }
}

// Rows that registers cannot hold: maximum and sum in one pass, the result in a second one.
template <typename T, int width>
__global__ void __launch_bounds__(1024)
    softmax_online(const T* __restrict__ x, T* __restrict__ y, int columns) {
  x += std::int64_t{blockIdx.x} * columns;
  y += std::int64_t{blockIdx.x} * columns;
  const Exponentials row = sum_exponentials<T, width>(x, columns);
  const float top_log2 = row.top * log2_e, scale = 1 / row.sum;
  const int stride = static_cast<int>(blockDim.x) * width;
#pragma unroll 4
  for (int at = static_cast<int>(threadIdx.x) * width; at < columns; at += stride) {
    float values[width];
    load(x + at, values);
#pragma unroll
    for (int i = 0; i < width; ++i) values[i] = exp_below(values[i], top_log2) * scale;
    store(y + at, values);
  }
}

}  // namespace

void launch_softmax(const RowsShape& shape, const void* x, void* y, cudaStream_t stream) {
  for_rows_of(shape.type, shape.columns, [&](auto element, auto width) {
    using T = decltype(element);
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(y);
    const auto columns = static_cast<int>(shape.columns);
    const auto blocks = static_cast<unsigned>(shape.rows);
    if (shape.columns <= columns_in_registers)
      softmax<T, width>
          <<<blocks, row_threads(shape.columns, per_thread), 0, stream>>>(from, to, columns);
    else
      softmax_online<T, width><<<blocks, 1024, 0, stream>>>(from, to, columns);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
