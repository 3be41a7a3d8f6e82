// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/adam.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch_training.h"

namespace warpmeter {
namespace {

constexpr int threads = 256;

struct State {
  float *w, *m, *v;
  __nv_bfloat16* copy;
};

// Elements that this kernel also writes, so that they may not come through the path of constants.
template <int width>
__device__ __forceinline__ void load_state(const float* at, float (&values)[width]) {
  if constexpr (width == 1) {
    values[0] = *at;
  } else {
#pragma unroll
    for (int i = 0; i < width; i += 4)
      *reinterpret_cast<float4*>(values + i) = *reinterpret_cast<const float4*>(at + i);
  }
}
template <int width>
__device__ __forceinline__ void store_state(float* at, const float (&values)[width]) {
  if constexpr (width == 1) {
    *at = values[0];
  } else {
#pragma unroll
    for (int i = 0; i < width; i += 4)
      *reinterpret_cast<float4*>(at + i) = *reinterpret_cast<const float4*>(values + i);
  }
}

template <typename T, int width>
__device__ __forceinline__ void load_gradients(const T* at, float (&values)[width]) {
  if constexpr (width <= full_width<T>) {
    load(at, values);
  } else {  // eight f32 are two accesses
#pragma unroll
    for (int first = 0; first < width; first += full_width<T>) {
      float part[full_width<T>];
      load(at + first, part);
#pragma unroll
      for (int i = 0; i < full_width<T>; ++i) values[first + i] = part[i];
    }
  }
}

template <typename T, int width>
__device__ __forceinline__ void step(const AdamFactors& f, const State& state, const T* gradient,
                                     std::int64_t at) {
  alignas(16) float w[width], m[width], v[width];
  float g[width];
  load_gradients(gradient + at, g);
  load_state(state.w + at, w);
  load_state(state.m + at, m);
  load_state(state.v + at, v);
#pragma unroll
  for (int i = 0; i < width; ++i) {
    m[i] = f.beta1 * m[i] + f.one_less_beta1 * g[i];
    v[i] = f.beta2 * v[i] + f.one_less_beta2 * g[i] * g[i];
    const float denominator = sqrtf(v[i] * f.square_correction) + f.epsilon;
    w[i] -= f.rate * (m[i] * f.mean_correction / denominator + f.decay * w[i]);
  }
  store_state(state.w + at, w);
  store_state(state.m + at, m);
  store_state(state.v + at, v);
  store(state.copy + at, w);
}

// The matrix as a flat array: eight elements per thread, and those after the last whole eight one
// each.
template <typename T>
__global__ void __launch_bounds__(threads)
    adam(AdamFactors factors, State state, const T* __restrict__ gradient, std::int64_t eights,
         int rest) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < eights) step<T, 8>(factors, state, gradient, at * 8);
  if (at < rest) step<T, 1>(factors, state, gradient, eights * 8 + at);
}

}  // namespace

void launch_adam(const RowsShape& shape, const AdamFactors& factors, void* w, void* m, void* v,
                 const void* gradient, void* copy, cudaStream_t stream) {
  const std::int64_t elements = shape.rows * shape.columns, eights = elements / 8;
  const State state{static_cast<float*>(w), static_cast<float*>(m), static_cast<float*>(v),
                    static_cast<__nv_bfloat16*>(copy)};
  for_type(shape.type, [&](auto element) {
    using T = decltype(element);
    adam<<<static_cast<unsigned>(eights / threads + 1), threads, 0, stream>>>(
        factors, state, static_cast<const T*>(gradient), eights, static_cast<int>(elements % 8));
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
