// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/e4m3.cuh"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/quantize.h"

namespace warpmeter {
namespace {

constexpr int threads = 256;

// Neighbouring lanes share a group of 128 columns: 8 lanes with 16 elements each, or, where vectors
// do not fit the row, a whole warp with four single elements per lane.
template <typename T, int width>
__global__ void __launch_bounds__(threads)
    quantize_block(const T* __restrict__ x, E4m3* __restrict__ y, float* __restrict__ scales,
                   int columns, int groups_of_row, std::int64_t groups) {
  constexpr int lanes = width == 16 ? 8 : 32;
  constexpr int parts = quantize_columns / (lanes * width);
  const std::int64_t group = (std::int64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  const std::int64_t row = group / groups_of_row;
  const int first = static_cast<int>((group - row * groups_of_row) * quantize_columns);
  // No columns for groups beyond the last: their lanes only take part in the maximum.
  const int end = group < groups ? columns : 0;
  x += row * columns;
  y += row * columns;
  float values[parts][width];
  float top = 0;
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    const int at = first + (part * lanes + lane) * width;
    if (at >= end) continue;
    load_16(x + at, values[part]);
    top = larger_magnitude(top, values[part]);
  }
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    top = fmaxf(top, __shfl_xor_sync(~0u, top, distance));
  const float scale = scale_for(top);
  if (lane == 0 && group < groups) scales[group] = scale;
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    const int at = first + (part * lanes + lane) * width;
    if (at < end) store_quotients(y + at, values[part], scale);
  }
}

template <typename T, int width>
void launch(const RowsShape& shape, const void* x, void* y, void* scales, cudaStream_t stream) {
  const std::int64_t of_row = groups_per_row(shape, quantize_columns);
  const std::int64_t groups = shape.rows * of_row;
  const std::int64_t per_block = threads / (width == 16 ? 8 : 32);
  const auto blocks = static_cast<unsigned>((groups + per_block - 1) / per_block);
  quantize_block<T, width><<<blocks, threads, 0, stream>>>(
      static_cast<const T*>(x), static_cast<E4m3*>(y), static_cast<float*>(scales),
      static_cast<int>(shape.columns), static_cast<int>(of_row), groups);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace

void launch_quantize_block(const RowsShape& shape, const void* x, void* y, void* scales,
                           cudaStream_t stream) {
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    if (shape.columns % 16 == 0)
      launch<T, 16>(shape, x, y, scales, stream);
    else
      launch<T, 1>(shape, x, y, scales, stream);
  });
}

}  // namespace warpmeter
