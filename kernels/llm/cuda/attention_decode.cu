// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/attention_combine.h"
#include "kernels/llm/cuda/cache_values.cuh"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/mma.cuh"
#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/cuda/tile.cuh"

namespace warpmeter {
namespace {

constexpr int warps = 4, step = 16;  // context positions of a warp at a time
constexpr int most_heads = 8;        // query heads per KV head: columns of the matrix operand

// Blocks per SM: room for the registers of each size.
template <int size>
inline constexpr int resident = size == 256   ? 2
                                : size == 128 ? 3
                                              : 5;

struct Arguments {
  const void *q, *k, *v;
  const std::int32_t *block_table, *lengths;
  const float* scales;  // of K and V in e4m3
  float* partial;       // [batch kv_heads, splits, heads, size]: sums of weighted values
  float* statistics;    // [batch kv_heads, splits, heads, 2]: maximum (of log2), sum of weights
  std::int64_t q_row;   // elements from one sequence's queries to the next one's
  int heads;            // per KV head
  int kv_heads, max_pages, page_bits, chunk;
  float scale_log2;  // log2(e) / sqrt(size)
};

// What a warp knows of its part of the context; lane 4 g + t has heads 2 t (x, z) and 2 t + 1
// (y, w). With c columns of a value read at a time, sums[i + c / 2 j] are columns 8 c j + c g + 2 i
// (x, y) and + 1 (z, w).
template <int size>
struct State {
  float4 sums[size / 16] = {};
  float top[2] = {Max::neutral, Max::neutral}, weight[2] = {};
};

// [at] = or += value.
__device__ __forceinline__ void add_pair(float* at, float2 value, bool first) {
  float2& pair = *reinterpret_cast<float2*>(at);
  pair = first ? value : float2{pair.x + value.x, pair.y + value.y};
}

// The query's columns in the order in which lane t reads a key's: 16 bytes at a time.
template <typename T, typename Cache, int size>
__device__ __forceinline__ void load_query(uint4 (&q)[size / 32], const T* query, bool present) {
  constexpr int parts = sizeof(T) / sizeof(Cache);  // of the query per part of a key
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int j = 0; j < size / 32; ++j)
    q[j] = present ? load16(query + 8 * (j / parts * 4 * parts + t * parts + j % parts)) : uint4{};
}

// Scores of 16 positions: of lane 4 g + t, position g (x, y) and g + 8 (z, w) of heads 2 t, 2 t
// + 1. k is permuted as in gemm_decode.cu.
template <typename T, typename Cache, int size>
__device__ __forceinline__ float4 scores_of(const uint4 (&q)[size / 32], const Cache* keys,
                                            int left) {
  constexpr int parts = sizeof(T) / sizeof(Cache);
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const Cache* key = keys + g * size + 16 / sizeof(Cache) * t;
  float4 scores = {};
#pragma unroll
  for (int j = 0; j < size / 32; j += parts) {
    const KeyPart<T, Cache> low(g < left ? load16(key + 32 * j) : uint4{});
    const KeyPart<T, Cache> high(g + 8 < left ? load16(key + 8 * size + 32 * j) : uint4{});
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      const unsigned *a = low.word + 4 * i, *b = high.word + 4 * i;
      multiply_add<T>(scores, {a[0], b[0], a[1], b[1]}, {q[j + i].x, q[j + i].y});
      multiply_add<T>(scores, {a[2], b[2], a[3], b[3]}, {q[j + i].z, q[j + i].w});
    }
  }
  return scores;
}

// sums += values (as rows: columns of 16 positions) x weights. Lane 4 g + t reads c columns of
// positions 2 t, 2 t + 1, + 8, + 9 from 8 c j + c g on, so two of them go to each product.
template <typename T, typename Cache, int size>
__device__ __forceinline__ void add_values(State<size>& state, uint2 weights, const Cache* values,
                                           int left) {
  constexpr int columns = value_columns<Cache, size>;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int j = 0; j < size / 8 / columns; ++j) {
    ValuePart rows[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = 2 * t + r % 2 + r / 2 * 8;
      rows[r] = load_values<Cache, size>(values + row * size + columns * (8 * j + g), row < left);
    }
    const auto pair = [&](int r, int i) { return column_pair<T, Cache>(rows[r], rows[r + 1], i); };
#pragma unroll
    for (int i = 0; i < columns; i += 2)
      multiply_add<T>(state.sums[(columns * j + i) / 2],
                      {pair(0, i), pair(0, i + 1), pair(2, i), pair(2, i + 1)}, weights);
  }
}

// Online softmax of one of a lane's two heads: its scores of two positions become weights, the sums
// relative to the new maximum.
template <int size>
__device__ __forceinline__ void weigh(State<size>& state, int head, float& low, float& high,
                                      float scale_log2, int left) {
  const int g = threadIdx.x % 32 / 4;
  low = g < left ? low * scale_log2 : Max::neutral;
  high = g + 8 < left ? high * scale_log2 : Max::neutral;
  float top = fmaxf(state.top[head], fmaxf(low, high));
#pragma unroll
  for (int distance = 4; distance < 32; distance *= 2)
    top = fmaxf(top, __shfl_xor_sync(~0u, top, distance));
  const float shrink = exp2_approximate(state.top[head] - top);
  state.top[head] = top;
  low = exp2_approximate(low - top);
  high = exp2_approximate(high - top);
  state.weight[head] = state.weight[head] * shrink + low + high;
#pragma unroll
  for (float4& sum : state.sums) {
    (head == 0 ? sum.x : sum.y) *= shrink;
    (head == 0 ? sum.z : sum.w) *= shrink;
  }
}

// The 16 positions from `keys` and `values` on, of which `left` exist.
template <typename T, typename Cache, int size>
__device__ __forceinline__ void attend(State<size>& state, const uint4 (&q)[size / 32],
                                       const Cache* keys, const Cache* values, int left,
                                       float scale_log2) {
  float4 s = scores_of<T, Cache, size>(q, keys, left);
  weigh(state, 0, s.x, s.z, scale_log2, left);
  weigh(state, 1, s.y, s.w, scale_log2, left);
  const uint2 weights = {transposed(packed<T>(s.x, s.y)), transposed(packed<T>(s.z, s.w))};
  add_values<T, Cache, size>(state, weights, values, left);
}

// The warps' states become one, which goes to memory.
template <int columns, int size>
__device__ __forceinline__ void combine_warps(State<size>& state, const Arguments& a,
                                              float value_scale) {
  __shared__ float tops[warps][most_heads], weights[warps][most_heads];
  __shared__ float sums[most_heads][size];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int distance = 4; distance < 32; distance *= 2)
      state.weight[i] += __shfl_xor_sync(~0u, state.weight[i], distance);
    if (g == 0) tops[warp][2 * t + i] = state.top[i], weights[warp][2 * t + i] = state.weight[i];
  }
  __syncthreads();
  const auto top_of = [&](int head) {
    float top = Max::neutral;
#pragma unroll
    for (int w = 0; w < warps; ++w) top = fmaxf(top, tops[w][head]);
    return top;
  };
  const float shrink[2] = {exp2_approximate(state.top[0] - top_of(2 * t)),
                           exp2_approximate(state.top[1] - top_of(2 * t + 1))};
  for (int turn = 0; turn < warps; ++turn) {
    if (warp == turn)
#pragma unroll
      for (int i = 0; i < size / 16; ++i) {
        const int pairs = columns / 2, column = columns * (i / pairs * 8 + g) + i % pairs * 2;
        const float2 low = {state.sums[i].x * shrink[0], state.sums[i].z * shrink[0]};
        const float2 high = {state.sums[i].y * shrink[1], state.sums[i].w * shrink[1]};
        add_pair(&sums[2 * t][column], low, turn == 0);
        add_pair(&sums[2 * t + 1][column], high, turn == 0);
      }
    __syncthreads();
  }
  const std::int64_t part = std::int64_t{blockIdx.x} * gridDim.y + blockIdx.y;
  for (int i = threadIdx.x; i < a.heads * size; i += 32 * warps)
    a.partial[part * a.heads * size + i] = value_scale * sums[i / size][i % size];
  const int head = threadIdx.x;
  if (head < a.heads) {
    const float top = top_of(head);
    float weight = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w)
      weight += weights[w][head] * exp2_approximate(tops[w][head] - top);
    a.statistics[2 * (part * a.heads + head)] = top;
    a.statistics[2 * (part * a.heads + head) + 1] = weight;
  }
}

// blockIdx.x chooses sequence and KV head, blockIdx.y a chunk of the context. The query heads that
// share the KV head are columns of one matrix, so that K and V are read once, straight to
// registers. Chunks and pages are whole steps, so a step's positions lie in one page.
template <typename T, typename Cache, int size>
__global__ void __launch_bounds__(32 * warps, resident<size>) attention_decode(Arguments a) {
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4;
  const int sequence = blockIdx.x / a.kv_heads, kv = blockIdx.x % a.kv_heads;
  const int begin = blockIdx.y * a.chunk, end = min(begin + a.chunk, __ldg(a.lengths + sequence));
  if (begin >= end) return;
  uint4 q[size / 32];
  const T* query = static_cast<const T*>(a.q) + sequence * a.q_row + (kv * a.heads + g) * size;
  load_query<T, Cache, size>(q, query, g < a.heads);
  float scale_log2 = a.scale_log2, value_scale = 1;
  if constexpr (sizeof(Cache) == 1)
    scale_log2 *= __ldg(a.scales), value_scale = __ldg(a.scales + 1);
  const std::int32_t* pages = a.block_table + std::int64_t{sequence} * a.max_pages;
  State<size> state;
  int at = begin + warp * step;
  int page = at < end ? __ldg(pages + (at >> a.page_bits)) : 0;
#pragma unroll 1
  while (at < end) {
    const int next = at + warps * step;
    const int next_page = next < end ? __ldg(pages + (next >> a.page_bits)) : 0;
    const int place = at & ((1 << a.page_bits) - 1);
    const std::int64_t row = ((std::int64_t{page} * a.kv_heads + kv << a.page_bits) + place) * size;
    attend<T, Cache, size>(state, q, static_cast<const Cache*>(a.k) + row,
                           static_cast<const Cache*>(a.v) + row, end - at, scale_log2);
    at = next;
    page = next_page;
  }
  combine_warps<value_columns<Cache, size>>(state, a, value_scale);
}

template <typename T, int size>
void launch(const DecodeShape& shape, const Arguments& arguments, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(shape.batch * shape.kv_heads),
                    static_cast<unsigned>(attention_splits(shape.context)));
  if (shape.cache == Element::e4m3)
    attention_decode<T, std::uint8_t, size><<<blocks, 32 * warps, 0, stream>>>(arguments);
  else
    attention_decode<T, T, size><<<blocks, 32 * warps, 0, stream>>>(arguments);
}

}  // namespace

void launch_attention_decode(const DecodeShape& shape, const DecodeOperands& operands,
                             cudaStream_t stream) {
  const auto chunk = static_cast<int>(attention_chunk(shape.context));
  auto* partial = static_cast<float*>(operands.partial);
  auto* statistics = static_cast<float*>(operands.statistics);
  const auto* lengths = static_cast<const std::int32_t*>(operands.lengths);
  const Arguments arguments = {operands.q,
                               operands.k,
                               operands.v,
                               static_cast<const std::int32_t*>(operands.block_table),
                               lengths,
                               static_cast<const float*>(operands.scales),
                               partial,
                               statistics,
                               operands.q_row,
                               static_cast<int>(shape.heads / shape.kv_heads),
                               static_cast<int>(shape.kv_heads),
                               static_cast<int>(pages_per_sequence(shape)),
                               std::countr_zero(static_cast<unsigned>(shape.page)),
                               chunk,
                               1.44269504f / sqrtf(static_cast<float>(shape.head_size))};
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const auto with_size = shape.head_size == 64    ? launch<T, 64>
                           : shape.head_size == 128 ? launch<T, 128>
                                                    : launch<T, 256>;
    with_size(shape, arguments, stream);
  });
  GPU_CHECK(cudaGetLastError());
  launch_attention_combine(
      {shape.batch * shape.kv_heads, shape.kv_heads, shape.heads / shape.kv_heads, shape.head_size,
       attention_splits(shape.context), chunk, shape.type},
      partial, statistics, lengths, operands.o, stream);
}

}  // namespace warpmeter
