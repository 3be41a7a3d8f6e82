// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/launch_moe.h"
#include "kernels/llm/moe_permute.h"

namespace warpmeter {
namespace {

constexpr int warps = 8, threads = warps * 32;
constexpr unsigned all_lanes = ~0u;

// The (token, choice) pairs, as they stand in ids, in equal pieces: one per warp of all blocks.
struct Pairs {
  const std::int32_t* ids;
  std::int64_t count, per_warp;  // per_warp: a multiple of 32
};

// Calls visit(pair, expert, same) with the warp's next 32 pairs, one per lane; `same` are the lanes
// that have the same expert, and expert is -1 beyond the last pair.
template <class Visit>
__device__ __forceinline__ void for_pairs_of_warp(const Pairs& pairs, Visit visit) {
  const std::int64_t piece = std::int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  const std::int64_t begin = piece * pairs.per_warp;
  const std::int64_t end = min(begin + pairs.per_warp, pairs.count);
#pragma unroll 1
  for (std::int64_t at = begin; at < end; at += 32) {
    const std::int64_t pair = at + threadIdx.x % 32;
    const int expert = pair < end ? pairs.ids[pair] : -1;
    visit(pair, expert, __match_any_sync(all_lanes, expert));
    __syncwarp();
  }
}

// How many pairs of each expert each warp of the block has.
using Counts = int[warps][most_experts];

// Of the lanes with the same expert, the first one counts all. No atomics are needed, and no result
// depends on an order.
__device__ __forceinline__ void count_all(int* counts, int expert, unsigned same) {
  if (expert >= 0 && __ffs(static_cast<int>(same)) - 1 == static_cast<int>(threadIdx.x % 32))
    counts[expert] += __popc(same);
}

__device__ __forceinline__ void count_pairs(const Pairs& pairs, int experts, Counts& counts) {
  int* mine = counts[threadIdx.x / 32];
#pragma unroll 1
  for (int e = static_cast<int>(threadIdx.x % 32); e < experts; e += 32) mine[e] = 0;
  __syncwarp();
  for_pairs_of_warp(
      pairs, [=](std::int64_t, int expert, unsigned same) { count_all(mine, expert, same); });
  __syncthreads();
}

__global__ void __launch_bounds__(threads)
    moe_count(Pairs pairs, int experts, std::int32_t* __restrict__ block_counts) {
  __shared__ Counts counts;
  count_pairs(pairs, experts, counts);
#pragma unroll 1
  for (int e = static_cast<int>(threadIdx.x); e < experts; e += threads) {
    int sum = 0;
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) sum += counts[warp][e];
    block_counts[std::int64_t{blockIdx.x} * experts + e] = sum;
  }
}

// starts[e] = the sum of totals below e, each rounded up to `multiple`; by one warp, 32 experts at
// a time. Returns the sum of all.
__device__ __forceinline__ int scan(const int* totals, int* starts, int experts, int multiple) {
  const int lane = static_cast<int>(threadIdx.x);
  int end = 0;
#pragma unroll 1
  for (int e = lane; e < (experts + 31) / 32 * 32; e += 32) {
    const int size = e < experts ? (totals[e] + multiple - 1) / multiple * multiple : 0;
    int up_to = size;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int below = __shfl_up_sync(all_lanes, up_to, distance);
      if (lane >= distance) up_to += below;
    }
    if (e < experts) starts[e] = end + up_to - size;
    end += __shfl_sync(all_lanes, up_to, 31);
  }
  return end;
}

struct Places {
  std::int32_t *rows, *counts, *offsets;
};

// Counts again, turns counts into each warp's first row of each expert, and hands out the rows.
__global__ void __launch_bounds__(threads)
    moe_place(Pairs pairs, int experts, int multiple, const std::int32_t* __restrict__ block_counts,
              Places to) {
  __shared__ Counts next;
  __shared__ int totals[most_experts], starts[most_experts];
  count_pairs(pairs, experts, next);
#pragma unroll 1
  for (int e = static_cast<int>(threadIdx.x); e < experts; e += threads) {
    int before = 0, total = 0;  // in the blocks before this one, and in all
#pragma unroll 8
    for (unsigned block = 0; block < gridDim.x; ++block) {
      const int count = block_counts[std::int64_t{block} * experts + e];
      if (block < blockIdx.x) before += count;
      total += count;
    }
    totals[e] = total;
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) {
      const int count = next[warp][e];
      next[warp][e] = before;
      before += count;
    }
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    const int end = scan(totals, starts, experts, multiple);
    if (blockIdx.x == 0 && threadIdx.x == 0) to.offsets[experts] = end;
  }
  __syncthreads();
  if (blockIdx.x == 0)
#pragma unroll 1
    for (int e = static_cast<int>(threadIdx.x); e < experts; e += threads)
      to.counts[e] = totals[e], to.offsets[e] = starts[e];
  int* mine = next[threadIdx.x / 32];
  for_pairs_of_warp(pairs, [&](std::int64_t pair, int expert, unsigned same) {
    const unsigned before = same & ((1u << threadIdx.x % 32) - 1);
    if (expert >= 0) to.rows[pair] = starts[expert] + mine[expert] + __popc(before);
    __syncwarp();
    count_all(mine, expert, same);
  });
}

constexpr int copy_threads = 128;

// A block takes a part of a token's row, which it reads once, to all its places; blocks beyond the
// tokens fill the rows between an expert's last one and the next expert's first with zeros.
template <typename Piece>
__global__ void __launch_bounds__(copy_threads)
    moe_copy(const Piece* __restrict__ x, Piece* __restrict__ y,
             const std::int32_t* __restrict__ rows, const std::int32_t* __restrict__ counts,
             const std::int32_t* __restrict__ offsets, std::int64_t tokens, int top,
             std::int64_t row_pieces) {
  const std::int64_t at = std::int64_t{blockIdx.y} * copy_threads + threadIdx.x;
  if (at >= row_pieces) return;
  if (blockIdx.x < tokens) {
    const Piece piece = x[blockIdx.x * row_pieces + at];
    rows += std::int64_t{blockIdx.x} * top;
#pragma unroll 4
    for (int j = 0; j < top; ++j) y[rows[j] * row_pieces + at] = piece;
    return;
  }
  const std::int64_t expert = blockIdx.x - tokens;
  for (int row = offsets[expert] + counts[expert]; row < offsets[expert + 1]; ++row)
    y[row * row_pieces + at] = Piece{};
}

template <typename Piece>
void launch_copy(const PermuteShape& shape, const void* x, void* y, const Places& places,
                 cudaStream_t stream) {
  const std::int64_t pieces =
      shape.hidden * static_cast<std::int64_t>(bytes_of(shape.type)) / std::int64_t{sizeof(Piece)};
  const std::int64_t padded = shape.multiple > 1 ? shape.experts : 0;
  const dim3 blocks(static_cast<unsigned>(shape.tokens + padded),
                    static_cast<unsigned>((pieces + copy_threads - 1) / copy_threads));
  moe_copy<<<blocks, copy_threads, 0, stream>>>(
      static_cast<const Piece*>(x), static_cast<Piece*>(y), places.rows, places.counts,
      places.offsets, shape.tokens, static_cast<int>(shape.top), pieces);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace

void launch_moe_permute(const PermuteShape& shape, const void* x, const void* ids, void* y,
                        void* rows, void* counts, void* offsets, void* block_counts,
                        cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(permute_blocks(shape));
  const auto experts = static_cast<int>(shape.experts);
  const std::int64_t routed = shape.tokens * shape.top, lanes = std::int64_t{blocks} * threads;
  const Pairs pairs{static_cast<const std::int32_t*>(ids), routed,
                    (routed + lanes - 1) / lanes * 32};
  const Places places{static_cast<std::int32_t*>(rows), static_cast<std::int32_t*>(counts),
                      static_cast<std::int32_t*>(offsets)};
  auto* counted = static_cast<std::int32_t*>(block_counts);
  moe_count<<<blocks, threads, 0, stream>>>(pairs, experts, counted);
  GPU_CHECK(cudaGetLastError());
  moe_place<<<blocks, threads, 0, stream>>>(pairs, experts, static_cast<int>(shape.multiple),
                                            counted, places);
  GPU_CHECK(cudaGetLastError());
  const std::int64_t row_bytes = shape.hidden * static_cast<std::int64_t>(bytes_of(shape.type));
  if (row_bytes % 16 == 0)
    launch_copy<uint4>(shape, x, y, places, stream);
  else if (row_bytes % 4 == 0)
    launch_copy<std::uint32_t>(shape, x, y, places, stream);
  else
    launch_copy<std::uint16_t>(shape, x, y, places, stream);
}

}  // namespace warpmeter
