// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch_moe.h"
#include "kernels/llm/cuda/reduce.cuh"

namespace warpmeter {
namespace {

constexpr int warps = 8;
constexpr float log2_e = 1.44269504f;
constexpr unsigned all_lanes = ~0u;

// Integers in the order of finite floats, equal for both zeros, all above 0.
__device__ __forceinline__ std::uint32_t key_of(float value) {
  const std::uint32_t bits = __float_as_uint(value + 0.0f);  // -0 becomes 0
  return bits ^ (bits >> 31 != 0 ? ~0u : 1u << 31);
}
__device__ __forceinline__ float value_of(std::uint32_t key) {
  return __uint_as_float(key ^ (key >> 31 != 0 ? 1u << 31 : ~0u));
}

// A warp's keys of one token: lane l holds experts (32 part + l) width + i.
template <int parts, int width>
struct Keys {
  std::uint32_t of[parts][width];

  static __device__ __forceinline__ int expert(int part, int i) {
    return (part * 32 + static_cast<int>(threadIdx.x % 32)) * width + i;
  }

  // The largest key of the warp and the lowest expert that has it, which loses it.
  __device__ __forceinline__ std::uint32_t take(int& chosen) {
    std::uint32_t largest = 0;
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int i = 0; i < width; ++i) largest = max(largest, of[part][i]);
    largest = __reduce_max_sync(all_lanes, largest);
    auto lowest = static_cast<unsigned>(most_experts);
#pragma unroll
    for (int part = parts - 1; part >= 0; --part)
#pragma unroll
      for (int i = width - 1; i >= 0; --i)
        if (of[part][i] == largest) lowest = static_cast<unsigned>(expert(part, i));
    chosen = static_cast<int>(__reduce_min_sync(all_lanes, lowest));
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int i = 0; i < width; ++i)
        if (expert(part, i) == chosen) of[part][i] = 0;
    return largest;
  }
};

// A warp per token. Its keys stay in registers; lane j keeps the j-th choice.
template <typename T, int width, int parts>
__global__ void __launch_bounds__(warps * 32)
    moe_route(const T* __restrict__ logits, std::int32_t* __restrict__ ids,
              float* __restrict__ weights, std::int64_t tokens, int experts, int top) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t token = std::int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (token >= tokens) return;
  Keys<parts, width> keys;
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    const int first = keys.expert(part, 0);
    float values[width];
    if (first < experts) load(logits + token * experts + first, values);
#pragma unroll
    for (int i = 0; i < width; ++i) keys.of[part][i] = first < experts ? key_of(values[i]) : 0;
  }
  std::uint32_t key = 0;
  int id = 0;
  for (int j = 0; j < top; ++j) {
    int chosen;
    const std::uint32_t largest = keys.take(chosen);
    if (lane == j) key = largest, id = chosen;
  }
  const float value = value_of(key), largest = __shfl_sync(all_lanes, value, 0);
  const float part = lane < top ? exp2_approximate((value - largest) * log2_e) : 0;
  const float sum = reduce_warp<Add>(part);
  if (lane >= top) return;
  ids[token * top + lane] = id;
  weights[token * top + lane] = part / sum;
}

template <typename T, int width, int parts>
void launch(const RouteShape& shape, const void* logits, void* ids, void* weights,
            cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((shape.tokens + warps - 1) / warps);
  moe_route<T, width, parts><<<blocks, warps * 32, 0, stream>>>(
      static_cast<const T*>(logits), static_cast<std::int32_t*>(ids), static_cast<float*>(weights),
      shape.tokens, static_cast<int>(shape.experts), static_cast<int>(shape.top));
}

}  // namespace

void launch_moe_route(const RouteShape& shape, const void* logits, void* ids, void* weights,
                      cudaStream_t stream) {
  for_rows_of(shape.type, shape.experts, [&](auto element, auto width) {
    using T = decltype(element);
    constexpr int most_parts = static_cast<int>(most_experts) / (32 * width);
    if (width > 1 && shape.experts <= 32 * width)
      launch<T, width, 1>(shape, logits, ids, weights, stream);
    else if (width > 1 && shape.experts <= 64 * width)
      launch<T, width, 2>(shape, logits, ids, weights, stream);
    else
      launch<T, width, most_parts>(shape, logits, ids, weights, stream);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
