// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <numbers>

#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/cuda/scan.cuh"

namespace warpmeter {
namespace {

// All sums are of whole numbers, so they do not depend on the order of atomics: a token's weight is
// 2^40 exp((logit - top) / temperature), rounded down, and a row has fewer than 2^23 of them.

constexpr int threads = 1024;
constexpr int digit_bits = 11, bins = 1 << digit_bits;
constexpr int id_bits = 23, key_bits = 32 + id_bits;  // five digits
static_assert(key_bits % digit_bits == 0 && bins == 2 * threads);

// Unique, and larger for tokens that come first: those with larger logits, of equal ones (0 and -0
// are) that with the smaller id.
__device__ __forceinline__ std::uint64_t key_of(float logit, int id) {
  const std::uint32_t bits = __float_as_uint(logit + 0.0f);
  const std::uint32_t rising = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return std::uint64_t{rising} << id_bits | static_cast<std::uint32_t>((1 << id_bits) - 1 - id);
}

struct Logits {
  const float* at;
  int count;
  float factor, top_log2;  // log2(e) / temperature, and the same times the largest logit

  __device__ __forceinline__ std::uint64_t weight(float logit) const {
    return __float2ull_rz(exp2_approximate(fmaf(logit, factor, -top_log2)) * 0x1p40f);
  }
};

// Calls f(id, logit) for the thread's share of all tokens.
template <int width, class F>
__device__ __forceinline__ void for_tokens(const Logits& row, F f) {
  for (int at = static_cast<int>(threadIdx.x) * width; at < row.count; at += threads * width) {
    float values[width];
    load(row.at + at, values);
#pragma unroll
    for (int i = 0; i < width; ++i) f(at + i, values[i]);
  }
}

// Tokens and their weights by one digit of the key. Weights are added in halves with a carry: there
// are no 64-bit sums in shared memory, and a carry is one at whichever addition it occurs.
struct Histogram {
  std::uint32_t count[bins], low[bins], high[bins];

  __device__ __forceinline__ void clear() {
    for (int i = static_cast<int>(threadIdx.x); i < bins; i += threads)
      count[i] = low[i] = high[i] = 0;
  }
  __device__ __forceinline__ void add(int bin, std::uint64_t weight) {
    const auto part = static_cast<std::uint32_t>(weight);
    const std::uint32_t old = atomicAdd(&low[bin], part);
    atomicAdd(&count[bin], 1u);
    atomicAdd(&high[bin], static_cast<std::uint32_t>(weight >> 32) + (old + part < old ? 1u : 0u));
  }
  __device__ __forceinline__ Sum at(int bin) const {
    return {count[bin], std::uint64_t{high[bin]} << 32 | low[bin]};
  }
};

struct Found {
  int bin;
  Sum before, in_bin;
};

struct Cut {
  std::uint64_t key;   // the least one that is kept
  std::uint64_t mass;  // of all that are
};

// The fewest first tokens whose number or mass reaches `need`, digit by digit of the last one's
// key.
template <int width, std::uint64_t Sum::*measure>
__device__ Cut find_cut(const Logits& row, std::uint64_t need, Histogram& histogram) {
  __shared__ Found found;
  std::uint64_t prefix = 0;
  Sum before = {0, 0};
  for (int shift = key_bits - digit_bits;; shift -= digit_bits) {
    histogram.clear();
    __syncthreads();
    for_tokens<width>(row, [&](int id, float logit) {
      const std::uint64_t digits = key_of(logit, id) >> shift;
      if (digits >> digit_bits == prefix)
        histogram.add(static_cast<int>(digits % bins), row.weight(logit));
    });
    __syncthreads();
    const int bin = bins - 1 - 2 * static_cast<int>(threadIdx.x);  // the first is the largest
    const Sum in_bins[2] = {histogram.at(bin), histogram.at(bin - 1)};
    Sum sum = before + scan_block(in_bins[0] + in_bins[1]).before;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const Sum next = sum + in_bins[i];
      if (sum.*measure < need && need <= next.*measure) found = {bin - i, sum, in_bins[i]};
      sum = next;
    }
    __syncthreads();
    prefix = prefix << digit_bits | static_cast<std::uint32_t>(found.bin);
    before = found.before;
    // Keys are unique, so that this comes true with the last digit at the latest.
    if (found.in_bin.count == 1) return {prefix << shift, before.mass + found.in_bin.mass};
  }
}

// The first token by id at which the mass of those kept exceeds `target`.
template <int width>
__device__ void draw(const Logits& row, std::uint64_t cut, std::uint64_t target,
                     std::int32_t* token) {
  std::uint64_t before = 0;
  for (int first = 0; first < row.count && before <= target; first += threads * width) {
    const int at = first + static_cast<int>(threadIdx.x) * width;
    std::uint64_t masses[width] = {}, mass = 0;
    if (at < row.count) {
      float values[width];
      load(row.at + at, values);
#pragma unroll
      for (int i = 0; i < width; ++i) {
        if (key_of(values[i], at + i) >= cut) masses[i] = row.weight(values[i]);
        mass += masses[i];
      }
    }
    const Scanned sums = scan_block(Sum{0, mass});
    std::uint64_t begin = before + sums.before.mass;
#pragma unroll
    for (int i = 0; i < width; ++i) {
      if (begin <= target && target < begin + masses[i]) *token = at + i;
      begin += masses[i];
    }
    before += sums.total.mass;
  }
}

// One block per row. top_k and top_p (a fraction of 2^64) are 0 where they keep all.
template <int width>
__global__ void __launch_bounds__(threads)
    sample(const float* __restrict__ logits, const float* __restrict__ uniforms,
           std::int32_t* __restrict__ tokens, int vocabulary, float factor, std::uint64_t top_k,
           std::uint64_t top_p) {
  __shared__ Histogram histogram;
  Logits row = {logits + std::int64_t{blockIdx.x} * vocabulary, vocabulary, factor, 0};
  float top = Max::neutral;
  for_tokens<width>(row, [&](int, float logit) { top = fmaxf(top, logit); });
  row.top_log2 = reduce_block<Max>(top) * factor;

  Cut cut = {0, 0};
  if (top_k > 0) {
    cut = find_cut<width, &Sum::count>(row, top_k, histogram);
  } else {
    std::uint64_t mass = 0;
    for_tokens<width>(row, [&](int, float logit) { mass += row.weight(logit); });
    cut.mass = scan_block(Sum{0, mass}).total.mass;
  }
  if (top_p > 0) cut = find_cut<width, &Sum::mass>(row, __umul64hi(cut.mass, top_p) + 1, histogram);

  const std::uint64_t uniform = __float2uint_rz(uniforms[blockIdx.x] * 0x1p32f);
  draw<width>(row, cut.key, __umul64hi(cut.mass, uniform << 32), tokens + blockIdx.x);
}

}  // namespace

void launch_sample(const SampleShape& shape, const void* logits, const void* uniforms, void* tokens,
                   cudaStream_t stream) {
  const auto kernel = shape.vocabulary % 4 == 0 ? sample<4> : sample<1>;
  const bool all = shape.top_k == 0 || shape.top_k >= shape.vocabulary;
  const double top_p = shape.top_p < 1 ? std::max(shape.top_p, 0x1p-53) * 0x1p64 : 0;
  kernel<<<static_cast<unsigned>(shape.rows), threads, 0, stream>>>(
      static_cast<const float*>(logits), static_cast<const float*>(uniforms),
      static_cast<std::int32_t*>(tokens), static_cast<int>(shape.vocabulary),
      static_cast<float>(std::numbers::log2e / shape.temperature),
      all ? 0 : static_cast<std::uint64_t>(shape.top_k), static_cast<std::uint64_t>(top_p));
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
