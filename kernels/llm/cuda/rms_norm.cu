// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/reduce.cuh"

namespace warpmeter {
namespace {

constexpr int per_thread = columns_in_registers / 1024;

// One block per row. Each thread keeps its elements in registers, so that x is read once, and loads
// its gains before the sum is known (not single ones: they would not fit).
template <typename T, int width>
__global__ void __launch_bounds__(1024)
    rms_norm(const T* __restrict__ x, const T* __restrict__ gain, T* __restrict__ y, int columns) {
  x += std::int64_t{blockIdx.x} * columns;
  y += std::int64_t{blockIdx.x} * columns;
  float values[per_thread / width][width], gains[per_thread / width][width];
  float squares = 0;
#pragma unroll
  for (int part = 0; part < per_thread / width; ++part) {
    const int at = static_cast<int>(part * blockDim.x + threadIdx.x) * width;
    if (at >= columns) continue;
    load(x + at, values[part]);
    if constexpr (width > 1) load(gain + at, gains[part]);
#pragma unroll
    for (int i = 0; i < width; ++i) squares += values[part][i] * values[part][i];
  }
  const float mean = reduce_block<Add>(squares) / static_cast<float>(columns);
  const float scale = rsqrtf(mean + rms_epsilon);
#pragma unroll
  for (int part = 0; part < per_thread / width; ++part) {
    const int at = static_cast<int>(part * blockDim.x + threadIdx.x) * width;
    if (at >= columns) continue;
    if constexpr (width == 1) load(gain + at, gains[part]);
#pragma unroll
    for (int i = 0; i < width; ++i) values[part][i] *= scale * gains[part][i];
    store(y + at, values[part]);
  }
}

}  // namespace

void launch_rms_norm(const RowsShape& shape, const void* x, const void* gain, void* y,
                     cudaStream_t stream) {
  for_rows_of(shape.type, shape.columns, [&](auto element, auto width) {
    using T = decltype(element);
    rms_norm<T, width>
        <<<static_cast<unsigned>(shape.rows), row_threads(shape.columns, per_thread), 0, stream>>>(
            static_cast<const T*>(x), static_cast<const T*>(gain), static_cast<T*>(y),
            static_cast<int>(shape.columns));
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
