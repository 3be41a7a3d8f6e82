// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/cuda/row_parts.cuh"

namespace warpmeter {
namespace {

// One block per row. Each thread keeps its elements in registers, so that x is read once, and loads
// its gains before the sum is known (not single ones: they would not fit).
template <typename T, int width, bool with_residual>
__global__ void __launch_bounds__(1024)
    rms_norm(const T* __restrict__ x, const T* __restrict__ residual, const T* __restrict__ gain,
             T* __restrict__ h, T* __restrict__ y, int columns) {
  const std::int64_t row = std::int64_t{blockIdx.x} * columns;
  RowParts<width> values, gains;
  float squares = 0;
  for_parts<width>(columns, [&](int part, int at) {
    load(x + row + at, values[part]);
    if constexpr (width > 1) load(gain + at, gains[part]);
    if constexpr (with_residual) add_residual(residual + row + at, h + row + at, values[part]);
#pragma unroll
    for (int i = 0; i < width; ++i) squares += values[part][i] * values[part][i];
  });
  const float mean = reduce_block<Add>(squares) / static_cast<float>(columns);
  const float scale = rsqrtf(mean + rms_epsilon);
  for_parts<width>(columns, [&](int part, int at) {
    if constexpr (width == 1) load(gain + at, gains[part]);
#pragma unroll
    for (int i = 0; i < width; ++i) values[part][i] *= scale * gains[part][i];
    store(y + row + at, values[part]);
  });
}

template <bool with_residual>
void launch(const RowsShape& shape, const void* x, const void* residual, const void* gain, void* h,
            void* y, cudaStream_t stream) {
  for_rows_of(shape.type, shape.columns, [&](auto element, auto width) {
    using T = decltype(element);
    const int threads = row_threads(shape.columns, row_per_thread);
    rms_norm<T, width, with_residual><<<static_cast<unsigned>(shape.rows), threads, 0, stream>>>(
        static_cast<const T*>(x), static_cast<const T*>(residual), static_cast<const T*>(gain),
        static_cast<T*>(h), static_cast<T*>(y), static_cast<int>(shape.columns));
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace

void launch_rms_norm(const RowsShape& shape, const void* x, const void* gain, void* y,
                     cudaStream_t stream) {
  launch<false>(shape, x, nullptr, gain, nullptr, y, stream);
}

void launch_rms_norm_residual(const RowsShape& shape, const void* x, const void* residual,
                              const void* gain, void* h, void* y, cudaStream_t stream) {
  launch<true>(shape, x, residual, gain, h, y, stream);
}

}  // namespace warpmeter
