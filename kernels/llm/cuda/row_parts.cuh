// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/vector.cuh"

namespace warpmeter {

// A row in the registers of one block: each thread keeps this many of its elements, in parts of
// `width`; neighbours take neighbouring parts.
constexpr int row_per_thread = columns_in_registers / 1024;
template <int width>
using RowParts = float[row_per_thread / width][width];

// Calls f(part, at) for each part of the thread that lies in the row; `at` is its first column.
template <int width, class F>
__device__ __forceinline__ void for_parts(int columns, F f) {
#pragma unroll
  for (int part = 0; part < row_per_thread / width; ++part) {
    const int at = static_cast<int>(part * blockDim.x + threadIdx.x) * width;
    if (at < columns) f(part, at);
  }
}

// values += *residual, rounded to T, and stored in *h.
template <typename T, int width>
__device__ __forceinline__ void add_residual(const T* residual, T* h, float (&values)[width]) {
  float added[width];
  load(residual, added);
#pragma unroll
  for (int i = 0; i < width; ++i) {
    T sum;
    round_to(sum, values[i] + added[i]);
    values[i] = to_float(sum);
  }
  store(h, values);
}

}  // namespace warpmeter
