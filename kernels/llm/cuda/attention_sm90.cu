// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/hopper.cuh"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/reduce.cuh"
#include "kernels/llm/cuda/tensor_map.h"
#include "kernels/llm/cuda/wgmma_values.cuh"

namespace warpmeter {
namespace {

constexpr int group_rows = 64, rows = 2 * group_rows;  // queries of a warpgroup, of a block
constexpr int keys = 128, stages = 2;                  // of a step; under way
constexpr int threads = 3 * 128, consumer_warps = 8;
constexpr int query_box = group_rows * 128, key_box = keys * 128;  // bytes: 64 columns
// 168 registers per thread at the start; 128 x 40 + 256 x 232 do not exceed them.
constexpr int producer_registers = 40, consumer_registers = 232;

struct Sizes {
  int heads, kv_heads, context;
  float scale_log2;  // log2(e) / sqrt(size)
};

// Which queries, keys and values the block takes.
struct Job {
  int sequence, head, kv, first, steps;
};

// The last queries first, for they have the most keys.
__device__ __forceinline__ Job job_of(const Sizes& a) {
  const int pair = blockIdx.y, first = (gridDim.x - 1 - blockIdx.x) * rows, head = pair % a.heads;
  return {pair / a.heads, head, head / (a.heads / a.kv_heads), first, first / keys + 1};
}

// Addresses in shared memory: the queries of both warpgroups, stages of keys and values, barriers.
template <int size>
struct Places {
  static constexpr int boxes = size / 64, query_bytes = boxes * query_box;
  static constexpr int key_bytes = boxes * key_box;
  static constexpr int barriers = 2 * query_bytes + stages * 2 * key_bytes;
  // And what aligning to the swizzle's 1024 bytes may cost.
  static constexpr int bytes = barriers + (1 + 3 * stages) * 8 + 1024;
  std::uint32_t begin;

  __device__ __forceinline__ std::uint32_t query(int group) const {
    return begin + group * query_bytes;
  }
  __device__ __forceinline__ std::uint32_t key(int stage) const {
    return begin + 2 * query_bytes + stage * 2 * key_bytes;
  }
  __device__ __forceinline__ std::uint32_t value(int stage) const { return key(stage) + key_bytes; }
  __device__ __forceinline__ std::uint32_t queries_here() const { return begin + barriers; }
  __device__ __forceinline__ std::uint32_t key_here(int stage) const {
    return begin + barriers + 8 + 24 * stage;
  }
  __device__ __forceinline__ std::uint32_t value_here(int stage) const {
    return key_here(stage) + 8;
  }
  __device__ __forceinline__ std::uint32_t read(int stage) const { return key_here(stage) + 16; }
};

__device__ __forceinline__ void load_tokens(std::uint32_t to, const CUtensorMap& map, int column,
                                            int token, int sequence, std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(&map), "r"(column), "r"(token), "r"(sequence), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void store_tokens(const CUtensorMap& map, int column, int token,
                                             int sequence, std::uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          &map),
      "r"(column), "r"(token), "r"(sequence), "r"(from)
      : "memory");
}

// One thread.
template <int size>
__device__ __forceinline__ void produce(const Places<size>& places, const CUtensorMap& queries,
                                        const CUtensorMap& cache, const Job& job, const Sizes& a) {
  constexpr int boxes = size / 64;
  arrive_expecting(places.queries_here(), 2 * places.query_bytes);
#pragma unroll
  for (int i = 0; i < 2 * boxes; ++i)
    load_tokens(places.query(0) + i * query_box, queries, job.head * size + i % boxes * 64,
                job.first + i / boxes * group_rows, job.sequence, places.queries_here());
  const int key = (a.heads + job.kv) * size, value = key + a.kv_heads * size;  // columns
#pragma unroll 1
  for (int step = 0; step < job.steps; ++step) {
    const int stage = step % stages;
    wait_phase(places.read(stage), step / stages % 2 ^ 1);
    const auto load = [&](std::uint32_t to, int column, std::uint32_t here) {
      arrive_expecting(here, places.key_bytes);
#pragma unroll
      for (int i = 0; i < boxes; ++i)
        load_tokens(to + i * key_box, cache, column + 64 * i, step * keys, job.sequence, here);
    };
    load(places.key(stage), key, places.key_here(stage));
    load(places.value(stage), value, places.value_here(stage));
  }
}

// Of a warpgroup's 64 queries; lane 4 g + t of warp w has rows 16 w + g and + 8. sums as
// WarpgroupSums.
template <int size>
struct State {
  float sums[size / 2] = {};
  float top[2] = {Max::neutral, Max::neutral}, weight[2] = {};
};

template <typename T, int size>
__device__ __forceinline__ void scores_of(WarpgroupSums& scores, std::uint32_t query,
                                          std::uint32_t key) {
  fence_products();
#pragma unroll
  for (int i = 0; i < size / 16; ++i)  // 32 bytes of a box at a time
    multiply_async<T>(scores, matrix_descriptor(query + i / 4 * query_box + i % 4 * 32),
                      matrix_descriptor(key + i / 4 * key_box + i % 4 * 32), i > 0);
  commit_products();
  wait_products<0>();
  hold(scores);
}

// Scores of keys after their query become the lowest number. `ahead` = first key - the lane's
// first query.
__device__ __forceinline__ void mask(WarpgroupSums& scores, int ahead) {
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < keys / 2; ++i)
    if (ahead + i / 4 * 8 + 2 * t + i % 2 > i / 2 % 2 * 8) scores[i] = Max::neutral;
}

// Online softmax of one of a lane's two rows: scores become weights.
template <int size>
__device__ __forceinline__ void weigh(State<size>& state, int row, WarpgroupSums& scores,
                                      float scale_log2) {
  float top = Max::neutral;
#pragma unroll
  for (int i = 2 * row; i < keys / 2; i += 4) top = fmaxf(top, fmaxf(scores[i], scores[i + 1]));
  top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
  top = fmaxf(state.top[row], fmaxf(top, __shfl_xor_sync(~0u, top, 2)) * scale_log2);
  const float shrink = exp2_approximate(state.top[row] - top);
  state.top[row] = top;
  state.weight[row] *= shrink;
#pragma unroll
  for (int i = 2 * row; i < keys / 2; i += 4) {
    scores[i] = exp2_approximate(fmaf(scores[i], scale_log2, -top));
    scores[i + 1] = exp2_approximate(fmaf(scores[i + 1], scale_log2, -top));
    state.weight[row] += scores[i] + scores[i + 1];
  }
#pragma unroll
  for (int i = 2 * row; i < size / 2; i += 4) state.sums[i] *= shrink, state.sums[i + 1] *= shrink;
}

template <typename T, int size>
__device__ __forceinline__ void add_values(State<size>& state, const WarpgroupSums& weights,
                                           std::uint32_t value) {
  uint4 p[keys / 16];
#pragma unroll
  for (int i = 0; i < keys / 16; ++i) {
    const float* w = weights + 8 * i;
    p[i] = {packed<T>(w[0], w[1]), packed<T>(w[2], w[3]), packed<T>(w[4], w[5]),
            packed<T>(w[6], w[7])};
  }
  fence_products();
#pragma unroll
  for (int i = 0; i < keys / 16; ++i)
    add_weighted_async<T>(state.sums, p[i], column_descriptor(value + 2048 * i, key_box));
  commit_products();
  wait_products<0>();
  hold_sums(state.sums);
}

// Through the place of the warpgroup's queries, which nothing reads any more.
template <typename T, int size>
__device__ __forceinline__ void store_rows(State<size>& state, std::uint32_t box,
                                           const CUtensorMap& result, const Job& job, int group) {
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane % 16;
  float scale[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float weight = state.weight[i];
    weight += __shfl_xor_sync(~0u, weight, 1);
    weight += __shfl_xor_sync(~0u, weight, 2);
    scale[i] = 1 / weight;
  }
#pragma unroll
  for (int j = 0; j < size / 16; ++j) {  // 16 columns: four matrices
    const float* s = state.sums + 8 * j;
    const int piece = 2 * (j % 4) + lane / 16;
    store_matrices(
        box + j / 4 * query_box + row * 128 + (piece ^ row % 8) * 16,
        {packed<T>(s[0] * scale[0], s[1] * scale[0]), packed<T>(s[2] * scale[1], s[3] * scale[1]),
         packed<T>(s[4] * scale[0], s[5] * scale[0]), packed<T>(s[6] * scale[1], s[7] * scale[1])});
  }
  fence_for_copies();
  sync_warpgroup(1 + group);
  if (threadIdx.x % 128 != 0) return;
#pragma unroll
  for (int i = 0; i < size / 64; ++i)
    store_tokens(result, job.head * size + 64 * i, job.first + group * group_rows, job.sequence,
                 box + i * query_box);
  commit_stores();
  wait_stores_read();
}

template <typename T, int size>
__device__ __forceinline__ void consume(const Places<size>& places, const CUtensorMap& result,
                                        const Job& job, const Sizes& a) {
  const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
  const int mine = job.first + group * group_rows + threadIdx.x / 32 % 4 * 16 + lane / 4;
  State<size> state;
  wait_phase(places.queries_here(), 0);
#pragma unroll 1
  for (int step = 0; step < job.steps; ++step) {
    const int stage = step % stages;
    const std::uint32_t phase = step / stages % 2;
    WarpgroupSums scores;
    wait_phase(places.key_here(stage), phase);
    scores_of<T, size>(scores, places.query(group), places.key(stage));
    if (step == job.steps - 1) mask(scores, step * keys - mine);
    weigh(state, 0, scores, a.scale_log2);
    weigh(state, 1, scores, a.scale_log2);
    wait_phase(places.value_here(stage), phase);
    add_values<T>(state, scores, places.value(stage));
    if (lane == 0) arrive(places.read(stage));
  }
  store_rows<T>(state, places.query(group), result, job, group);
}

// blockIdx.x chooses 128 queries, blockIdx.y sequence and head. FlashAttention-3's warpgroups (Shah
// et al., arXiv:2407.08608): one copies, two compute; each waits for its own products.
template <typename T, int size>
__global__ void __launch_bounds__(threads, 1)
    attention_sm90(const __grid_constant__ CUtensorMap queries,
                   const __grid_constant__ CUtensorMap cache,
                   const __grid_constant__ CUtensorMap result, Sizes a) {
  extern __shared__ uint4 shared[];
  const Places<size> places = {(shared_address(shared) + 1023) / 1024 * 1024};
  if (threadIdx.x == 0) {
    init_barrier(places.queries_here(), 1);
    for (int stage = 0; stage < stages; ++stage) {
      init_barrier(places.key_here(stage), 1);
      init_barrier(places.value_here(stage), 1);
      init_barrier(places.read(stage), consumer_warps);
    }
    fence_barriers();
  }
  __syncthreads();
  const Job job = job_of(a);
  if (threadIdx.x < 128) {
    shrink_registers<producer_registers>();
    if (threadIdx.x == 0) produce(places, queries, cache, job, a);
  } else {
    grow_registers<consumer_registers>();
    consume<T>(places, result, job, a);
  }
}

template <typename T, int size>
void launch(const AttentionShape& s, const void* qkv, void* o, const Sizes& sizes,
            cudaStream_t stream) {
  const auto kernel = attention_sm90<T, size>;
  constexpr int shared_bytes = Places<size>::bytes;
  GPU_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  const auto map = [&](const void* tensor, std::int64_t heads, int box_rows) {
    return sequences_map(s.type, tensor, s.batch, s.context, heads * s.head_size, box_rows);
  };
  const std::int64_t all = s.heads + 2 * s.kv_heads;
  const dim3 blocks(static_cast<unsigned>((s.context + rows - 1) / rows),
                    static_cast<unsigned>(s.batch * s.heads));
  kernel<<<blocks, threads, shared_bytes, stream>>>(map(qkv, all, group_rows), map(qkv, all, keys),
                                                    map(o, s.heads, group_rows), sizes);
}

}  // namespace

void launch_attention_sm90(const AttentionShape& shape, const void* qkv, void* o,
                           cudaStream_t stream) {
  const Sizes sizes = {static_cast<int>(shape.heads), static_cast<int>(shape.kv_heads),
                       static_cast<int>(shape.context),
                       1.44269504f / sqrtf(static_cast<float>(shape.head_size))};
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const auto with_size = shape.head_size == 64 ? launch<T, 64> : launch<T, 128>;
    with_size(shape, qkv, o, sizes, stream);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
