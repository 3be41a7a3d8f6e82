// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/cuda/row_parts.cuh"

namespace warpmeter {
namespace {

// One block per row, kept in registers: x is read once, and the variance is a sum over deviations
// from the finished mean, which loses nothing where the mean is large.
template <typename T, int width, bool with_residual>
__global__ void __launch_bounds__(1024)
    layer_norm(const T* __restrict__ x, const T* __restrict__ residual, const T* __restrict__ gain,
               const T* __restrict__ bias, T* __restrict__ h, T* __restrict__ y, int columns) {
  const std::int64_t row = std::int64_t{blockIdx.x} * columns;
  RowParts<width> values;
  float sum = 0;
  for_parts<width>(columns, [&](int part, int at) {
    load(x + row + at, values[part]);
    if constexpr (with_residual) add_residual(residual + row + at, h + row + at, values[part]);
#pragma unroll
    for (int i = 0; i < width; ++i) sum += values[part][i];
  });
  const float mean = reduce_block<Add>(sum) / static_cast<float>(columns);
  float squares = 0;
  for_parts<width>(columns, [&](int part, int) {
#pragma unroll
    for (int i = 0; i < width; ++i) {
      values[part][i] -= mean;
      squares += values[part][i] * values[part][i];
    }
  });
  const float variance = reduce_block<Add>(squares) / static_cast<float>(columns);
  const float scale = rsqrtf(variance + layer_norm_epsilon);
  for_parts<width>(columns, [&](int part, int at) {
    float gains[width], biases[width];  // loaded in order: those of all parts would not fit
    load_in_order(gain + at, gains);
    load_in_order(bias + at, biases);
#pragma unroll
    for (int i = 0; i < width; ++i) gains[i] = values[part][i] * scale * gains[i] + biases[i];
    store(y + row + at, gains);
  });
}

template <bool with_residual>
void launch(const RowsShape& shape, const void* x, const void* residual, const void* gain,
            const void* bias, void* h, void* y, cudaStream_t stream) {
  for_rows_of(shape.type, shape.columns, [&](auto element, auto width) {
    using T = decltype(element);
    const int threads = row_threads(shape.columns, row_per_thread);
    layer_norm<T, width, with_residual><<<static_cast<unsigned>(shape.rows), threads, 0, stream>>>(
        static_cast<const T*>(x), static_cast<const T*>(residual), static_cast<const T*>(gain),
        static_cast<const T*>(bias), static_cast<T*>(h), static_cast<T*>(y),
        static_cast<int>(shape.columns));
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace

void launch_layer_norm(const RowsShape& shape, const void* x, const void* gain, const void* bias,
                       void* y, cudaStream_t stream) {
  launch<false>(shape, x, nullptr, gain, bias, nullptr, y, stream);
}

void launch_layer_norm_residual(const RowsShape& shape, const void* x, const void* residual,
                                const void* gain, const void* bias, void* h, void* y,
                                cudaStream_t stream) {
  launch<true>(shape, x, residual, gain, bias, h, y, stream);
}

}  // namespace warpmeter
