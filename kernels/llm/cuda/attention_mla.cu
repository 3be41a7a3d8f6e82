// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/attention_combine.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/mma.cuh"
#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/cuda/tile.cuh"

namespace warpmeter {
namespace {

constexpr int warps = 4, threads = 32 * warps;
constexpr int row = mla_rank + mla_rope, pieces = row / 8;  // of a query and of a position
constexpr int columns = mla_rank / warps;                   // of the result, per warp

// A block has `heads` query heads, 16 or 32, and takes as many positions at a time as give each
// warp one product of 16 heads x 8 positions.
template <int heads>
inline constexpr int step = 8 * warps * 16 / heads;

struct Arguments {
  const void *q, *cache;
  const std::int32_t *block_table, *lengths;
  float* partial;     // [batch, splits, all heads, mla_rank]: sums of weighted values
  float* statistics;  // [batch, splits, all heads, 2]: maximum (of log2) and sum of weights
  int max_pages, page_bits, chunk;
  float scale_log2;  // log2(e) times the scores' scale
};

template <typename T, int heads>
struct Shared {
  T q[heads * row];
  T positions[2][step<heads> * row];  // two stages
  T weights[heads][step<heads> + 8];  // 8 more, so that eight rows touch all banks
  float tops[step<heads> / 8][heads];
};

// Of lane 4 g + t: head 16 m + g is [m] .x, .y and [2 m] of the statistics, + 8 the others.
template <int heads>
struct State {
  float4 sums[heads / 16][columns / 8] = {};  // columns 8 i + 2 t, + 1 of the warp's
  float top[heads / 8];
  float weight[2] = {};  // of the positions in this warp's product, and of its 16 heads
};

// Of the warp's product: heads 16 m .., positions 8 n .. of a step.
template <int heads>
__device__ __forceinline__ int product_heads() {
  return threadIdx.x / 32 / (step<heads> / 8);
}
template <int heads>
__device__ __forceinline__ int product_positions() {
  return threadIdx.x / 32 % (step<heads> / 8);
}

// Rows of a tile by 8 threads each, 16 at a time; zeros for those that are not there.
template <typename T>
__device__ __forceinline__ void load_row(T* tile, int at, const T* from, bool present) {
#pragma unroll
  for (int i = 0; i < pieces / 8; ++i) {
    const int piece = 8 * i + threadIdx.x % 8;
    copy16_async(tile + swizzled_row<row>(at, piece), from + 8 * piece, present);
  }
}

template <typename T, int heads>
__device__ __forceinline__ float4 scores_of(const T* q, const T* positions) {
  const int lane = threadIdx.x % 32;
  const int head = 16 * product_heads<heads>() + lane % 16;
  const int position = 8 * product_positions<heads>() + lane % 8;
  float4 sums[4] = {};  // four, so that products need not wait for each other
#pragma unroll 6
  for (int i = 0; i < row / 32; ++i) {
    const uint4 k = load_matrices(positions + swizzled_row<row>(position, 4 * i + lane / 8));
    const uint4 low = load_matrices(q + swizzled_row<row>(head, 4 * i + lane / 16));
    const uint4 high = load_matrices(q + swizzled_row<row>(head, 4 * i + 2 + lane / 16));
    multiply_add<T>(sums[i % 2 * 2], low, {k.x, k.y});
    multiply_add<T>(sums[i % 2 * 2 + 1], high, {k.z, k.w});
  }
  float4 s = sums[0];
#pragma unroll
  for (int i = 1; i < 4; ++i)
    s.x += sums[i].x, s.y += sums[i].y, s.z += sums[i].z, s.w += sums[i].w;
  return s;
}

// Scores of positions from `left` on become the lowest number, and each head's maximum goes to
// shared memory.
template <typename T, int heads>
__device__ __forceinline__ void publish_tops(Shared<T, heads>& shared, float4& s, float scale_log2,
                                             int left) {
  const int lane = threadIdx.x % 32, g = lane / 4, n = product_positions<heads>();
  const int head = 16 * product_heads<heads>() + g, position = 8 * n + 2 * (lane % 4);
  const bool first = position < left, second = position + 1 < left;
  s = {first ? s.x * scale_log2 : Max::neutral, second ? s.y * scale_log2 : Max::neutral,
       first ? s.z * scale_log2 : Max::neutral, second ? s.w * scale_log2 : Max::neutral};
  float low = fmaxf(s.x, s.y), high = fmaxf(s.z, s.w);
#pragma unroll
  for (int distance = 1; distance < 4; distance *= 2) {
    low = fmaxf(low, __shfl_xor_sync(~0u, low, distance));
    high = fmaxf(high, __shfl_xor_sync(~0u, high, distance));
  }
  if (lane % 4 == 0) shared.tops[n][head] = low, shared.tops[n][head + 8] = high;
}

// Online softmax: all sums become relative to the new maxima, this warp's scores weights in shared
// memory.
template <typename T, int heads>
__device__ __forceinline__ void weigh(Shared<T, heads>& shared, State<heads>& state, float4 s) {
  const int lane = threadIdx.x % 32, g = lane / 4, own = product_heads<heads>();
#pragma unroll
  for (int half = 0; half < heads / 8; ++half) {
    float top = state.top[half];
#pragma unroll
    for (int n = 0; n < step<heads> / 8; ++n) top = fmaxf(top, shared.tops[n][8 * half + g]);
    const float shrink = exp2_approximate(state.top[half] - top);
    state.top[half] = top;
    if (half / 2 == own) {
      float &a = half % 2 == 0 ? s.x : s.z, &b = half % 2 == 0 ? s.y : s.w;
      a = exp2_approximate(a - top);
      b = exp2_approximate(b - top);
      state.weight[half % 2] = state.weight[half % 2] * shrink + a + b;
      store_pair(&shared.weights[8 * half + g][8 * product_positions<heads>() + 2 * (lane % 4)], a,
                 b);
    }
#pragma unroll
    for (float4& sum : state.sums[half / 2])
      (half % 2 == 0 ? sum.x : sum.z) *= shrink, (half % 2 == 0 ? sum.y : sum.w) *= shrink;
  }
}

template <typename T, int heads>
__device__ __forceinline__ void add_values(const Shared<T, heads>& shared, State<heads>& state,
                                           const T* positions) {
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * (columns / 8) + lane / 16;
#pragma unroll
  for (int i = 0; i < step<heads> / 16; ++i) {
    uint4 p[heads / 16];
#pragma unroll
    for (int m = 0; m < heads / 16; ++m)
      p[m] = load_matrices(&shared.weights[16 * m + lane % 16][16 * i + 8 * (lane / 16)]);
#pragma unroll
    for (int j = 0; j < columns / 16; ++j) {
      const uint4 v =
          load_transposed(positions + swizzled_row<row>(16 * i + lane % 16, first + 2 * j));
#pragma unroll
      for (int m = 0; m < heads / 16; ++m) {
        multiply_add<T>(state.sums[m][2 * j], p[m], {v.x, v.y});
        multiply_add<T>(state.sums[m][2 * j + 1], p[m], {v.z, v.w});
      }
    }
  }
}

// `part` counts the heads of the chunks before this block's first.
template <typename T, int heads>
__device__ __forceinline__ void store_part(Shared<T, heads>& shared, State<heads>& state,
                                           const Arguments& a, std::int64_t part) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  float* partial = a.partial + part * mla_rank + threadIdx.x / 32 * columns + 2 * t;
#pragma unroll
  for (int m = 0; m < heads / 16; ++m)
#pragma unroll
    for (int i = 0; i < columns / 8; ++i) {
      const float4& sum = state.sums[m][i];
      float* at = partial + (16 * m + g) * mla_rank + 8 * i;
      *reinterpret_cast<float2*>(at) = {sum.x, sum.y};
      *reinterpret_cast<float2*>(at + 8 * mla_rank) = {sum.z, sum.w};
    }
  __syncthreads();  // the maxima of the last step have been read
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float weight = state.weight[i];
    weight += __shfl_xor_sync(~0u, weight, 1);
    weight += __shfl_xor_sync(~0u, weight, 2);
    if (t == 0)
      shared.tops[product_positions<heads>()][16 * product_heads<heads>() + 8 * i + g] = weight;
  }
  __syncthreads();
  if (threadIdx.x >= 32 || t != 0) return;
#pragma unroll
  for (int half = 0; half < heads / 8; ++half) {
    float weight = 0;
    for (int n = 0; n < step<heads> / 8; ++n) weight += shared.tops[n][8 * half + g];
    float* at = a.statistics + 2 * (part + 8 * half + g);
    *reinterpret_cast<float2*>(at) = {state.top[half], weight};
  }
}

// blockIdx.x chooses heads, .y a chunk of the context, .z the sequence.
template <typename T, int heads>
__global__ void __launch_bounds__(threads) attention_mla(Arguments a) {
  extern __shared__ uint4 raw[];
  Shared<T, heads>& shared = *reinterpret_cast<Shared<T, heads>*>(raw);
  const int begin = blockIdx.y * a.chunk;
  const int end = min(begin + a.chunk, __ldg(a.lengths + blockIdx.z));
  if (begin >= end) return;
  const int all_heads = gridDim.x * heads, first = blockIdx.x * heads, mine = threadIdx.x / 8;
  const T* q = static_cast<const T*>(a.q) + (std::int64_t{blockIdx.z} * all_heads + first) * row;
  for (int head = mine; head < heads; head += 16) load_row(shared.q, head, q + head * row, true);
  const std::int32_t* table = a.block_table + std::int64_t{blockIdx.z} * a.max_pages;
  const auto fetch = [&](int at, T* tile) {
#pragma unroll
    for (int r = 0; r < step<heads>; r += 16) {
      const int position = at + r + mine,
                page = position < end ? __ldg(table + (position >> a.page_bits)) : 0;
      const int place = position & ((1 << a.page_bits) - 1);
      load_row(tile, r + mine,
               static_cast<const T*>(a.cache) + ((std::int64_t{page} << a.page_bits) + place) * row,
               position < end);
    }
    commit_copies();
  };
  fetch(begin, shared.positions[0]);
  State<heads> state;
#pragma unroll
  for (float& top : state.top) top = Max::neutral;
  int stage = 0;
#pragma unroll 1
  for (int at = begin; at < end; at += step<heads>, stage ^= 1) {
    wait_copies<0>();
    __syncthreads();  // all see this stage, and none reads the other one or the weights
    if (at + step<heads> < end) fetch(at + step<heads>, shared.positions[stage ^ 1]);
    float4 s = scores_of<T, heads>(shared.q, shared.positions[stage]);
    publish_tops(shared, s, a.scale_log2, end - at);
    __syncthreads();
    weigh(shared, state, s);
    __syncthreads();
    add_values(shared, state, shared.positions[stage]);
  }
  store_part(shared, state, a,
             (std::int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * all_heads + first);
}

template <typename T, int heads>
void launch(const MlaShape& shape, const Arguments& arguments, cudaStream_t stream) {
  constexpr int shared_bytes = sizeof(Shared<T, heads>);
  const auto kernel = attention_mla<T, heads>;
  GPU_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  const dim3 blocks(static_cast<unsigned>(shape.heads / heads),
                    static_cast<unsigned>(mla_splits(shape)), static_cast<unsigned>(shape.batch));
  kernel<<<blocks, threads, shared_bytes, stream>>>(arguments);
}

}  // namespace

void launch_attention_mla(const MlaShape& shape, const MlaOperands& operands, cudaStream_t stream) {
  auto* partial = static_cast<float*>(operands.partial);
  auto* statistics = static_cast<float*>(operands.statistics);
  const auto* lengths = static_cast<const std::int32_t*>(operands.lengths);
  const auto chunk = static_cast<int>(mla_chunk(shape));
  const Arguments arguments = {operands.q,
                               operands.cache,
                               static_cast<const std::int32_t*>(operands.block_table),
                               lengths,
                               partial,
                               statistics,
                               static_cast<int>(pages_per_sequence(shape)),
                               std::countr_zero(static_cast<unsigned>(shape.page)),
                               chunk,
                               1.44269504f * static_cast<float>(mla_scale)};
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const auto with_heads = shape.heads % 32 == 0 ? launch<T, 32> : launch<T, 16>;
    with_heads(shape, arguments, stream);
  });
  GPU_CHECK(cudaGetLastError());
  launch_attention_combine(
      {shape.batch, 1, shape.heads, mla_rank, mla_splits(shape), chunk, shape.type}, partial,
      statistics, lengths, operands.o, stream);
}

}  // namespace warpmeter
