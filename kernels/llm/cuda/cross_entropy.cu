// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cross_entropy.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/exponentials.cuh"
#include "kernels/llm/cuda/launch_training.h"

namespace warpmeter {
namespace {

template <typename T, int width>
__device__ __forceinline__ void fill_zeros(T* row, int columns) {
  const float zeros[width] = {};
  for (int at = static_cast<int>(threadIdx.x) * width; at < columns;
       at += static_cast<int>(blockDim.x) * width)
    store(row + at, zeros);
}

// One block per row: maximum and sum in one pass, the gradient in a second one. The thread that has
// written the target's gradient, as that of any column, then corrects it.
template <typename T, int width>
__global__ void __launch_bounds__(1024)
    cross_entropy(const T* __restrict__ logits, const std::int32_t* __restrict__ targets,
                  float* __restrict__ loss, T* __restrict__ gradient, int columns, float scale) {
  logits += std::int64_t{blockIdx.x} * columns;
  gradient += std::int64_t{blockIdx.x} * columns;
  const int target = targets[blockIdx.x];
  if (target == ignored_target) {
    fill_zeros<T, width>(gradient, columns);
    if (threadIdx.x == 0) loss[blockIdx.x] = 0;
    return;
  }
  const float of_target = to_float(logits[target]);
  const Exponentials row = sum_exponentials<T, width>(logits, columns);
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(row.sum) + (row.top - of_target);
  const float top_log2 = row.top * log2_e, factor = scale / row.sum;
  const int stride = static_cast<int>(blockDim.x) * width;
#pragma unroll 4
  for (int at = static_cast<int>(threadIdx.x) * width; at < columns; at += stride) {
    float values[width];
    load(logits + at, values);
#pragma unroll
    for (int i = 0; i < width; ++i) values[i] = exp_below(values[i], top_log2) * factor;
    store(gradient + at, values);
  }
  if (target / width % static_cast<int>(blockDim.x) == static_cast<int>(threadIdx.x))
    round_to(gradient[target], exp_below(of_target, top_log2) * factor - scale);
}

}  // namespace

void launch_cross_entropy(const RowsShape& shape, const void* logits, const void* targets,
                          void* loss, void* gradient, float scale, cudaStream_t stream) {
  for_rows_of(shape.type, shape.columns, [&](auto element, auto width) {
    using T = decltype(element);
    const int threads = shape.columns < 16 * 1024 ? row_threads(shape.columns, 16) : 1024;
    cross_entropy<T, width><<<static_cast<unsigned>(shape.rows), threads, 0, stream>>>(
        static_cast<const T*>(logits), static_cast<const std::int32_t*>(targets),
        static_cast<float*>(loss), static_cast<T*>(gradient), static_cast<int>(shape.columns),
        scale);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
