// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/gemm_decode.cuh"
#include "kernels/llm/cuda/launch_gemm.h"

namespace warpmeter {
namespace {

using namespace few_tokens;

constexpr int group = 128, group_bytes = group / 2;

// Two numbers of 16 bits whose lowest mantissa bits count ones: 1024 + q in f16, 128 + q in bf16.
template <typename T>
struct Numbers;
template <>
struct Numbers<__half> {
  using Pair = __half2;
  static constexpr unsigned magic = 0x64006400;
  static __device__ __forceinline__ Pair both(__half x) { return __half2half2(x); }
};
template <>
struct Numbers<__nv_bfloat16> {
  using Pair = __nv_bfloat162;
  static constexpr unsigned magic = 0x43004300;
  static __device__ __forceinline__ Pair both(__nv_bfloat16 x) { return __bfloat162bfloat162(x); }
};
template <typename T>
using Pair = typename Numbers<T>::Pair;

template <typename To, typename From>
__device__ __forceinline__ To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return *reinterpret_cast<const To*>(&from);
}

// q - z of nibbles i and i + 4 of a word, exactly: the mask and the exponent of a 16-bit number are
// one lop3 (Kim et al., arXiv:2211.10017), and `base` is that number at q = z.
template <typename T>
__device__ __forceinline__ unsigned weights_of(unsigned word, int i, Pair<T> base) {
  const unsigned raised = (word >> (4 * i) & 0x000f000fu) | Numbers<T>::magic;
  return bits_as<unsigned>(__hsub2(bits_as<Pair<T>>(raised), base));
}

// What a lane needs of a row's group: a quarter of its weights, factor and zero point.
template <typename T>
struct Quarter {
  uint4 words = {};
  unsigned parameters = 0;

  __device__ __forceinline__ void load(const std::uint8_t* row, const unsigned* of_row, int at,
                                       int t) {
    if (row == nullptr) return;
    words = load16(row + at * group_bytes + 16 * t);
    parameters = __ldg(of_row + at);
  }
  __device__ __forceinline__ float factor() const {
    return to_float(bits_as<Pair<T>>(parameters).x);
  }
  __device__ __forceinline__ Pair<T> base() const {
    return __hadd2(bits_as<Pair<T>>(Numbers<T>::magic),
                   Numbers<T>::both(bits_as<Pair<T>>(parameters).y));
  }
};

// One group of k: sums += factor x (products with q - z), the factors per row.
template <typename T, int tiles>
__device__ __forceinline__ void add_group(float4 (&sums)[tiles], const Quarter<T>& low,
                                          const Quarter<T>& high, const T* const (&tokens)[tiles],
                                          int at) {
  const Pair<T> low_base = low.base(), high_base = high.base();
  const unsigned* low_words = &low.words.x;
  const unsigned* high_words = &high.words.x;
  float4 products[tiles] = {};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    uint4 a[2];  // two products of 16 of k
#pragma unroll
    for (int half = 0; half < 2; ++half)
      a[half] = {weights_of<T>(low_words[j], 2 * half, low_base),
                 weights_of<T>(high_words[j], 2 * half, high_base),
                 weights_of<T>(low_words[j], 2 * half + 1, low_base),
                 weights_of<T>(high_words[j], 2 * half + 1, high_base)};
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      const uint4 x = tokens[tile] == nullptr ? uint4{} : load16(tokens[tile] + at + 32 * j);
      multiply_add<T>(products[tile], a[0], {x.x, x.y});
      multiply_add<T>(products[tile], a[1], {x.z, x.w});
    }
  }
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile) {
    sums[tile].x = fmaf(low.factor(), products[tile].x, sums[tile].x);
    sums[tile].y = fmaf(low.factor(), products[tile].y, sums[tile].y);
    sums[tile].z = fmaf(high.factor(), products[tile].z, sums[tile].z);
    sums[tile].w = fmaf(high.factor(), products[tile].w, sums[tile].w);
  }
}

// As kernel.gemm.decode, a group of k per warp and step; the next one's weights are under way
// meanwhile.
template <typename T, int tiles>
__global__ void __launch_bounds__(32 * warps)
    gemm_int4(const T* __restrict__ activations, const std::uint8_t* __restrict__ weights,
              const unsigned* __restrict__ parameters, T* __restrict__ result, int m, int n,
              int k) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int first = blockIdx.x * outputs, groups = k / group;
  const std::uint8_t* low_row = row_of(weights, first + g, n, k / 2);
  const std::uint8_t* high_row = row_of(weights, first + g + 8, n, k / 2);
  const unsigned* low_parameters = parameters + std::int64_t{first + g} * groups;
  const unsigned* high_parameters = low_parameters + std::int64_t{8} * groups;
  const T* tokens[tiles];
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
    tokens[tile] = row_of(activations, tile * tokens_per_tile + g, m, k);

  float4 sums[tiles] = {};
  Quarter<T> low, high;
  if (warp < groups) {
    low.load(low_row, low_parameters, warp, t);
    high.load(high_row, high_parameters, warp, t);
  }
#pragma unroll 1
  for (int at = warp; at < groups; at += warps) {
    Quarter<T> next_low, next_high;
    if (at + warps < groups) {
      next_low.load(low_row, low_parameters, at + warps, t);
      next_high.load(high_row, high_parameters, at + warps, t);
    }
    add_group(sums, low, high, tokens, at * group + 8 * t);
    low = next_low;
    high = next_high;
  }
  store_sums(sums, result, m, n, first);
}

}  // namespace

void launch_gemm_int4(const GemmShape& shape, const void* activations, const void* weights,
                      const void* groups, void* result, cudaStream_t stream) {
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    with_tiles(shape.m, [&](auto tiles) {
      gemm_int4<T, tiles.value>
          <<<static_cast<unsigned>((shape.n + outputs - 1) / outputs), 32 * warps, 0, stream>>>(
              static_cast<const T*>(activations), static_cast<const std::uint8_t*>(weights),
              static_cast<const unsigned*>(groups), static_cast<T*>(result),
              static_cast<int>(shape.m), static_cast<int>(shape.n), static_cast<int>(shape.k));
    });
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
