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

constexpr int warps = 4, threads = 32 * warps;
constexpr int rows = 16 * warps;  // queries of a block, 16 per warp

// Of a step. Heads of 256 leave registers for half as many, and for no queries.
template <int size>
inline constexpr int keys = size == 256 ? 32 : 64;
template <int size>
inline constexpr bool queries_in_registers = size < 256;

struct Arguments {
  const void *q, *k, *v;
  void* o;
  AttentionLayout layout;
  int heads, kv_heads, context;
  float scale_log2;  // log2(e) / sqrt(size)
};

// Of a warp's 16 queries; lane 4 g + t holds rows g (x, y) and g + 8 (z, w) of each float4.
template <int size>
struct State {
  float4 sums[size / 8] = {};  // columns 8 i + 2 t, + 1
  float top[2] = {Max::neutral, Max::neutral}, weight[2] = {};
};

// A warp's 16 queries as fragments: in registers, straight from memory, once per block; or out of a
// tile in shared memory.
template <typename T, int size, bool in_registers = queries_in_registers<size>>
struct Queries {
  uint4 part[size / 16];

  __device__ __forceinline__ Queries(const T* from, std::int64_t stride, int left) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const auto pair = [&](int row, int column) {
      return row < left ? *reinterpret_cast<const unsigned*>(from + row * stride + column) : 0u;
    };
#pragma unroll
    for (int i = 0; i < size / 16; ++i)
      part[i] = {pair(g, 16 * i + 2 * t), pair(g + 8, 16 * i + 2 * t), pair(g, 16 * i + 8 + 2 * t),
                 pair(g + 8, 16 * i + 8 + 2 * t)};
  }
  __device__ __forceinline__ uint4 at(int i) const { return part[i]; }
};
template <typename T, int size>
struct Queries<T, size, false> {
  const T* tile;

  __device__ __forceinline__ uint4 at(int i) const {
    const int lane = threadIdx.x % 32;
    return load_matrices(tile + swizzled_row<size>(lane % 16, 2 * i + lane / 16));
  }
};

// `count` rows of one head from token `first` on, to shared memory; zeros beyond the context's end.
template <int count, typename T, int size>
__device__ __forceinline__ void load_rows(T* tile, const T* head, std::int64_t stride, int first,
                                          int context) {
  constexpr int pieces = size / 8, at_once = threads / pieces;  // rows
  const int row = static_cast<int>(threadIdx.x) / pieces, column = threadIdx.x % pieces;
  const T* from = head + (first + row) * stride + 8 * column;
#pragma unroll
  for (int i = 0; i < count / at_once; ++i) {
    const bool present = first + row + i * at_once < context;
    copy16_async(tile + swizzled_row<size>(row + i * at_once, column), present ? from : head,
                 present);
    from += at_once * stride;
  }
}

template <typename T, int size>
__device__ __forceinline__ void scores_of(float4 (&scores)[keys<size> / 8],
                                          const Queries<T, size>& queries, const T* tile) {
  const int lane = threadIdx.x % 32;
  // Not all of 256 at once: the compiler would load more than the registers hold.
  constexpr int unrolled = size == 256 ? 4 : size / 16;
#pragma unroll unrolled
  for (int i = 0; i < size / 16; ++i) {
    const uint4 q = queries.at(i);
#pragma unroll
    for (int j = 0; j < keys<size> / 16; ++j) {
      const uint4 k = load_matrices(
          tile + swizzled_row<size>(16 * j + lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2));
      multiply_add<T>(scores[2 * j], q, {k.x, k.y});
      multiply_add<T>(scores[2 * j + 1], q, {k.z, k.w});
    }
  }
}

// Scores of keys after their query become the lowest number. `ahead` = first key - first query.
template <int count>
__device__ __forceinline__ void mask(float4 (&scores)[count], int ahead) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int j = 0; j < count; ++j) {
    const int key = ahead + 8 * j + 2 * t;
    if (key > g) scores[j].x = Max::neutral;
    if (key + 1 > g) scores[j].y = Max::neutral;
    if (key > g + 8) scores[j].z = Max::neutral;
    if (key + 1 > g + 8) scores[j].w = Max::neutral;
  }
}

struct Two {
  float *a, *b;
};

// Online softmax of one of a lane's two rows: `pair` gives
// its two of a float4. Scores become weights.
template <int size, typename Pair>
__device__ __forceinline__ void weigh(State<size>& state, int row, float4 (&scores)[keys<size> / 8],
                                      float scale_log2, Pair pair) {
  float top = Max::neutral;
#pragma unroll
  for (float4& score : scores) {
    const auto [a, b] = pair(score);
    top = fmaxf(top, fmaxf(*a, *b));
  }
  top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
  top = fmaxf(state.top[row], fmaxf(top, __shfl_xor_sync(~0u, top, 2)) * scale_log2);
  const float shrink = exp2_approximate(state.top[row] - top);
  state.top[row] = top;
  state.weight[row] *= shrink;
#pragma unroll
  for (float4& score : scores) {
    const auto [a, b] = pair(score);
    *a = exp2_approximate(fmaf(*a, scale_log2, -top));
    *b = exp2_approximate(fmaf(*b, scale_log2, -top));
    state.weight[row] += *a + *b;
  }
#pragma unroll
  for (float4& sum : state.sums) {
    const auto [a, b] = pair(sum);
    *a *= shrink;
    *b *= shrink;
  }
}

template <typename T, int size>
__device__ __forceinline__ void add_values(State<size>& state,
                                           const float4 (&weights)[keys<size> / 8], const T* tile) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < keys<size> / 16; ++i) {
    const float4 &low = weights[2 * i], &high = weights[2 * i + 1];
    const uint4 p = {packed<T>(low.x, low.y), packed<T>(low.z, low.w), packed<T>(high.x, high.y),
                     packed<T>(high.z, high.w)};
#pragma unroll
    for (int j = 0; j < size / 16; ++j) {
      const uint4 v =
          load_transposed(tile + swizzled_row<size>(16 * i + lane % 16, 2 * j + lane / 16));
      multiply_add<T>(state.sums[2 * j], p, {v.x, v.y});
      multiply_add<T>(state.sums[2 * j + 1], p, {v.z, v.w});
    }
  }
}

// Through shared memory, which no warp reads any more, so that rows leave in pieces of 16 bytes.
template <typename T, int size>
__device__ __forceinline__ void store_rows(State<size>& state, T* tile, T* o, std::int64_t stride,
                                           int left) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  float scale[2];
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float weight = state.weight[row];
    weight += __shfl_xor_sync(~0u, weight, 1);
    weight += __shfl_xor_sync(~0u, weight, 2);
    scale[row] = 1 / weight;
  }
#pragma unroll
  for (int i = 0; i < size / 8; ++i) {
    const float4& sum = state.sums[i];
    store_pair(tile + swizzled_row<size>(g, i) + 2 * t, sum.x * scale[0], sum.y * scale[0]);
    store_pair(tile + swizzled_row<size>(g + 8, i) + 2 * t, sum.z * scale[1], sum.w * scale[1]);
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < size / 16; ++i) {
    const int row = (32 * i + lane) / (size / 8), column = (32 * i + lane) % (size / 8);
    if (row < left)
      store16(o + row * stride + 8 * column,
              *reinterpret_cast<const uint4*>(tile + swizzled_row<size>(row, column)));
  }
}

// blockIdx.x chooses 64 queries, the last first, for they have the most keys; blockIdx.y sequence
// and head. FlashAttention-2's loop (Dao, arXiv:2307.08691).
template <typename T, int size>
__global__ void __launch_bounds__(threads) attention_prefill(Arguments a) {
  extern __shared__ uint4 shared[];
  constexpr int step_keys = keys<size>, tile_elements = step_keys * size;
  // K, V of one stage, then of the other, then the queries unless registers have them
  T* const tiles = reinterpret_cast<T*>(shared);
  const int warp = threadIdx.x / 32;
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * rows, mine = first + 16 * warp;
  const int sequence = static_cast<int>(blockIdx.y) / a.heads;
  const int head = static_cast<int>(blockIdx.y) % a.heads, kv = head / (a.heads / a.kv_heads);
  const AttentionLayout& layout = a.layout;
  const auto row_at = [=](const HeadRows& rows, int token, int of) {
    return rows.first + sequence * rows.batch + token * rows.token + of * rows.head;
  };
  const T* k = static_cast<const T*>(a.k) + row_at(layout.k, 0, kv);
  const T* v = static_cast<const T*>(a.v) + row_at(layout.v, 0, kv);
  const int steps = (min(first + rows, a.context) + step_keys - 1) / step_keys;
  const auto fetch = [&](int step) {
    T* tile = tiles + step % 2 * 2 * tile_elements;
    load_rows<step_keys, T, size>(tile, k, layout.k.token, step * step_keys, a.context);
    load_rows<step_keys, T, size>(tile + tile_elements, v, layout.v.token, step * step_keys,
                                  a.context);
    commit_copies();
  };
  const T* q = static_cast<const T*>(a.q) + row_at(layout.q, 0, head);
  const Queries<T, size> queries = [&] {
    if constexpr (queries_in_registers<size>) {
      return Queries<T, size>(q + mine * layout.q.token, layout.q.token, a.context - mine);
    } else {
      T* tile = tiles + 4 * tile_elements;
      load_rows<rows, T, size>(tile, q, layout.q.token, first, a.context);
      return Queries<T, size>{tile + 16 * warp * size};
    }
  }();
  fetch(0);
  State<size> state;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_copies<0>();
    __syncthreads();  // all see this stage, and none reads the other one
    if (step + 1 < steps) fetch(step + 1);
    const T* tile = tiles + step % 2 * 2 * tile_elements;
    float4 scores[step_keys / 8] = {};
    scores_of<T, size>(scores, queries, tile);
    if (step * step_keys >= first) mask(scores, step * step_keys - mine);
    weigh(state, 0, scores, a.scale_log2, [](float4& x) { return Two{&x.x, &x.y}; });
    weigh(state, 1, scores, a.scale_log2, [](float4& x) { return Two{&x.z, &x.w}; });
    add_values<T, size>(state, scores, tile + tile_elements);
  }
  __syncthreads();
  store_rows<T, size>(state, tiles + warp * 16 * size,
                      static_cast<T*>(a.o) + row_at(layout.o, mine, head), layout.o.token,
                      a.context - mine);
}

template <typename T, int size>
void launch(const AttentionShape& shape, const Arguments& arguments, cudaStream_t stream) {
  constexpr int queries = queries_in_registers<size> ? 0 : rows;
  constexpr int shared_bytes = (4 * keys<size> + queries) * size * 2;
  const auto kernel = attention_prefill<T, size>;
  GPU_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  const dim3 blocks(static_cast<unsigned>((shape.context + rows - 1) / rows),
                    static_cast<unsigned>(shape.batch * shape.heads));
  kernel<<<blocks, threads, shared_bytes, stream>>>(arguments);
}

}  // namespace

void launch_attention_prefill(const AttentionShape& shape, const AttentionLayout& layout,
                              const void* q, const void* k, const void* v, void* o,
                              cudaStream_t stream) {
  const Arguments arguments = {q,
                               k,
                               v,
                               o,
                               layout,
                               static_cast<int>(shape.heads),
                               static_cast<int>(shape.kv_heads),
                               static_cast<int>(shape.context),
                               1.44269504f / sqrtf(static_cast<float>(shape.head_size))};
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const auto with_size = shape.head_size == 64    ? launch<T, 64>
                           : shape.head_size == 128 ? launch<T, 128>
                                                    : launch<T, 256>;
    with_size(shape, arguments, stream);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
