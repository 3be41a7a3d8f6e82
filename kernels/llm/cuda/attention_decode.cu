// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/mma.cuh"
#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/cuda/tile.cuh"

namespace warpmeter {
namespace {

constexpr int warps = 4, step = 16;  // context positions of a warp at a time
constexpr int most_heads = 8;        // query heads per KV head: rows of the matrix operand

struct Arguments {
  const void *q, *k, *v;
  float* partial;     // [batch kv_heads, splits, heads, size]: sums of weighted values
  float* statistics;  // [batch kv_heads, splits, heads, 2]: maximum (of log2) and sum of weights
  int heads;          // per KV head
  int context, chunk;
  float scale_log2;  // log2(e) / sqrt(size)
};

// What a warp knows of its part of the context: of lane 4 g + t, row g is a head.
template <int size>
struct State {
  float4 sums[size / 8] = {};  // x, y of i + 8 j: head g at columns 64 j + 16 t + i and + 8
  float top = Max::neutral, weight = 0;
};

template <typename T>
__device__ __forceinline__ uint4 load_row(const T* from, bool present) {
  return present ? load16(from) : uint4{};
}

// Scores of 8 positions: of lane 4 g + t, head g at positions 2 t and 2 t + 1 (x, y). k is permuted
// as in gemm_decode.cu.
template <typename T, int size>
__device__ __forceinline__ float4 scores_of(const uint4 (&q)[size / 32], const T* keys,
                                            bool present) {
  const int t = threadIdx.x % 4;
  float4 scores = {};
#pragma unroll
  for (int j = 0; j < size / 32; ++j) {
    const uint4 key = load_row(keys + 32 * j + 8 * t, present);
    multiply_add<T>(scores, {q[j].x, 0, q[j].y, 0}, {key.x, key.y});
    multiply_add<T>(scores, {q[j].z, 0, q[j].w, 0}, {key.z, key.w});
  }
  return scores;
}

// sums += weights (16 positions) x values. Lane 4 g + t reads 16 bytes of rows 2 t, 2 t + 1, + 8,
// + 9 at columns 64 j + 8 g, so column i of each lane's eight goes to product i.
template <typename T, int size>
__device__ __forceinline__ void add_values(State<size>& state, uint2 weights, const T* values,
                                           int left) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int j = 0; j < size / 64; ++j) {
    uint4 rows[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = 2 * t + r % 2 + r / 2 * 8;
      rows[r] = load_row(values + row * size + 64 * j + 8 * g, row < left);
    }
    const auto pair = [](unsigned low, unsigned high, int i) {
      return __byte_perm(low, high, i % 2 == 0 ? 0x5410 : 0x7632);
    };
    const auto word = [](const uint4& row, int i) {
      return i < 2 ? row.x : i < 4 ? row.y : i < 6 ? row.z : row.w;
    };
#pragma unroll
    for (int i = 0; i < 8; ++i)
      multiply_add<T>(state.sums[8 * j + i], {weights.x, 0, weights.y, 0},
                      {pair(word(rows[0], i), word(rows[1], i), i),
                       pair(word(rows[2], i), word(rows[3], i), i)});
  }
}

// Positions [at, at + 16) of which `left` exist: online softmax.
template <typename T, int size>
__device__ __forceinline__ void attend(State<size>& state, const uint4 (&q)[size / 32],
                                       const T* keys, const T* values, int left, float scale_log2) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  float s[4];
  const float4 low = scores_of<T, size>(q, keys + g * size, g < left);
  const float4 high = scores_of<T, size>(q, keys + (g + 8) * size, g + 8 < left);
  s[0] = low.x, s[1] = low.y, s[2] = high.x, s[3] = high.y;
  float top = state.top;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int position = 2 * t + i % 2 + i / 2 * 8;
    s[i] = position < left ? s[i] * scale_log2 : Max::neutral;
    top = fmaxf(top, s[i]);
  }
  top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
  top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
  const float shrink = exp2_approximate(state.top - top);
  state.top = top;
  state.weight *= shrink;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    s[i] = exp2_approximate(s[i] - top);
    state.weight += s[i];
  }
#pragma unroll
  for (float4& sum : state.sums) sum.x *= shrink, sum.y *= shrink;
  add_values<T, size>(state, {packed<T>(s[0], s[1]), packed<T>(s[2], s[3])}, values, left);
}

// The warps' states become one, which goes to memory.
template <int size>
__device__ __forceinline__ void combine_warps(State<size>& state, const Arguments& a) {
  __shared__ float tops[warps][most_heads], weights[warps][most_heads];
  __shared__ float sums[most_heads][size];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  state.weight += __shfl_xor_sync(~0u, state.weight, 1);
  state.weight += __shfl_xor_sync(~0u, state.weight, 2);
  if (t == 0) tops[warp][g] = state.top, weights[warp][g] = state.weight;
  __syncthreads();
  float top = Max::neutral, weight = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) top = fmaxf(top, tops[w][g]);
#pragma unroll
  for (int w = 0; w < warps; ++w) weight += weights[w][g] * exp2_approximate(tops[w][g] - top);
  const float shrink = exp2_approximate(state.top - top);
  for (int turn = 0; turn < warps; ++turn) {
    if (warp == turn)
#pragma unroll
      for (int i = 0; i < size / 8; ++i) {
        float* at = &sums[g][i / 8 * 64 + 16 * t + i % 8];
        at[0] = (turn == 0 ? 0 : at[0]) + state.sums[i].x * shrink;
        at[8] = (turn == 0 ? 0 : at[8]) + state.sums[i].y * shrink;
      }
    __syncthreads();
  }
  const int part = blockIdx.x * gridDim.y + blockIdx.y;
  for (int i = threadIdx.x; i < a.heads * size; i += 32 * warps)
    a.partial[part * a.heads * size + i] = sums[i / size][i % size];
  if (warp == 0 && t == 0 && g < a.heads) {
    a.statistics[2 * (part * a.heads + g)] = top;
    a.statistics[2 * (part * a.heads + g) + 1] = weight;
  }
}

// blockIdx.x chooses sequence and KV head, blockIdx.y a chunk of the context. The query heads that
// share the KV head are rows of one matrix, so that K and V are read once, straight to registers.
template <typename T, int size>
__global__ void __launch_bounds__(32 * warps) attention_decode(Arguments a) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const T* queries = static_cast<const T*>(a.q) + (blockIdx.x * a.heads + g) * size;
  uint4 q[size / 32];
#pragma unroll
  for (int j = 0; j < size / 32; ++j) q[j] = load_row(queries + 32 * j + 8 * t, g < a.heads);
  const std::int64_t cache = std::int64_t{blockIdx.x} * a.context * size;
  const T* keys = static_cast<const T*>(a.k) + cache;
  const T* values = static_cast<const T*>(a.v) + cache;
  const int begin = blockIdx.y * a.chunk, end = min(begin + a.chunk, a.context);
  State<size> state;
#pragma unroll 1
  for (int at = begin + warp * step; at < end; at += warps * step)
    attend<T, size>(state, q, keys + std::int64_t{at} * size, values + std::int64_t{at} * size,
                    end - at, a.scale_log2);
  combine_warps(state, a);
}

// One block per query head, one thread per column: the chunks' results become one.
template <typename T, int size>
__global__ void __launch_bounds__(size)
    attention_combine(const float* __restrict__ partial, const float* __restrict__ statistics,
                      T* __restrict__ o, int heads, int splits) {
  const int first = blockIdx.x / heads * splits * heads + blockIdx.x % heads;
  float top = Max::neutral, weight = 0, sum = 0;
  for (int s = 0; s < splits; ++s) top = fmaxf(top, statistics[2 * (first + s * heads)]);
  for (int s = 0; s < splits; ++s) {
    const int part = first + s * heads;
    const float shrink = exp2_approximate(statistics[2 * part] - top);
    weight += shrink * statistics[2 * part + 1];
    sum += shrink * partial[part * size + threadIdx.x];
  }
  round_to(o[blockIdx.x * size + threadIdx.x], sum / weight);
}

template <typename T, int size>
void launch(const AttentionShape& shape, const Arguments& arguments, void* o, cudaStream_t stream) {
  const auto splits = static_cast<unsigned>(attention_splits(shape));
  const dim3 blocks(static_cast<unsigned>(shape.batch * shape.kv_heads), splits);
  attention_decode<T, size><<<blocks, 32 * warps, 0, stream>>>(arguments);
  attention_combine<T, size><<<static_cast<unsigned>(shape.batch * shape.heads), size, 0, stream>>>(
      arguments.partial, arguments.statistics, static_cast<T*>(o), arguments.heads,
      static_cast<int>(splits));
}

}  // namespace

void launch_attention_decode(const AttentionShape& shape, const void* q, const void* k,
                             const void* v, void* o, void* partial, void* statistics,
                             cudaStream_t stream) {
  const std::int64_t splits = attention_splits(shape);
  const Arguments arguments = {
      q,
      k,
      v,
      static_cast<float*>(partial),
      static_cast<float*>(statistics),
      static_cast<int>(shape.heads / shape.kv_heads),
      static_cast<int>(shape.context),
      static_cast<int>((shape.context + splits * step - 1) / (splits * step) * step),
      1.44269504f / sqrtf(static_cast<float>(shape.head_size))};
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const auto with_size = shape.head_size == 64 ? launch<T, 64> : launch<T, 128>;
    with_size(shape, arguments, o, stream);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
