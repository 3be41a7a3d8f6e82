// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/cuda/vector.cuh"

namespace warpmeter {

inline constexpr float log2_e = 1.44269504f;

// exp(value - top), with top_log2 = top log2(e): one multiply-add and ex2.approx.
__device__ __forceinline__ float exp_below(float value, float top_log2) {
  return exp2_approximate(fmaf(value, log2_e, -top_log2));
}

// A row's maximum and the sum of exp(x - top).
struct Exponentials {
  float top, sum;
};

// Both, in every thread of the block, of a row that registers cannot hold: in one pass (Milakov and
// Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867).
template <typename T, int width>
__device__ __forceinline__ Exponentials sum_exponentials(const T* x, int columns) {
  const int stride = static_cast<int>(blockDim.x) * width;
  float values[width];
  float top = Max::neutral, sum = 0;
#pragma unroll 4
  for (int at = static_cast<int>(threadIdx.x) * width; at < columns; at += stride) {
    load(x + at, values);
    float higher = top;
#pragma unroll
    for (int i = 0; i < width; ++i) higher = fmaxf(higher, values[i]);
    sum *= exp_below(top, higher * log2_e);
    top = higher;
#pragma unroll
    for (int i = 0; i < width; ++i) sum += exp_below(values[i], top * log2_e);
  }
  const float highest = reduce_block<Max>(top);
  return {highest, reduce_block<Add>(sum * exp_below(top, highest * log2_e))};
}

}  // namespace warpmeter
