// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <algorithm>

#include "cuda/check.h"
#include "kernels/llm/cuda/hopper.cuh"
#include "kernels/llm/cuda/tensor_map.h"
#include "kernels/llm/cuda/wgmma.cuh"
#include "kernels/llm/shapes.h"

// The matrix product of compute capability 9.0, for each type of wgmma. As many blocks as there are
// SMs walk through the tiles of C. One warpgroup keeps tensor copies under way: a ring of stages,
// each with an mbarrier that the copies fill and one that the readers empty. Two others compute 64
// x 128 each and store through shared memory of their own, while the ring fills for the next tile.
namespace warpmeter {
namespace {

constexpr int sm90_tile = 128, sm90_rows = 64, sm90_stages = 6;
constexpr int sm90_threads = 3 * 128, sm90_consumer_warps = 8;
constexpr int sm90_operand_bytes = sm90_tile * 128, sm90_stage_bytes = 2 * sm90_operand_bytes;
constexpr int sm90_box_bytes = sm90_rows * 128;  // of the result: 64 rows of 64 elements
constexpr int sm90_ring_bytes = sm90_stages * sm90_stage_bytes;
constexpr int sm90_barriers = sm90_ring_bytes + 4 * sm90_box_bytes;  // their place
// And what aligning to the swizzle's 1024 bytes may cost.
constexpr int sm90_shared_bytes = sm90_barriers + 2 * sm90_stages * 8 + 1024;
// 168 registers per thread at the start; 128 x 40 + 256 x 232 do not exceed them.
constexpr int producer_registers = 40, consumer_registers = 232;

struct Sm90Sizes {
  int m_tiles, n_tiles, steps;  // steps of 128 bytes along k
  int m, n;
};

// Factors of the rows and columns of C, or null.
struct Scales {
  const float *rows, *columns;
};

struct Tile {
  int row, column;
};

// Blocks that run at the same time share rows of both operands: bands of 8 tiles, downwards first.
__device__ __forceinline__ Tile tile_at(int index, const Sm90Sizes& size) {
  constexpr int band = 8;
  const int first = index / (band * size.n_tiles) * band;
  const int rows = min(band, size.m_tiles - first), within = index - first * size.n_tiles;
  return {(first + within % rows) * sm90_tile, within / rows * sm90_tile};
}

// Where in the ring: stage and parity of its phase.
struct Place {
  int stage = 0;
  std::uint32_t phase = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == sm90_stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// Addresses in shared memory.
struct Ring {
  std::uint32_t begin;
  __device__ __forceinline__ std::uint32_t stage(int s) const {
    return begin + s * sm90_stage_bytes;
  }
  __device__ __forceinline__ std::uint32_t full(int s) const {
    return begin + sm90_barriers + 8 * s;
  }
  __device__ __forceinline__ std::uint32_t empty(int s) const { return full(s) + 8 * sm90_stages; }
  __device__ __forceinline__ std::uint32_t result(int warpgroup) const {
    return begin + sm90_ring_bytes + warpgroup * 2 * sm90_box_bytes;
  }
};

// One thread.
template <typename T>
__device__ __forceinline__ void produce(const Ring& ring, const CUtensorMap& a,
                                        const CUtensorMap& b, const Sm90Sizes& size) {
  constexpr int depth = 128 / sizeof(T);
  prefetch_map(a);
  prefetch_map(b);
  Place at;
  for (int index = blockIdx.x; index < size.m_tiles * size.n_tiles; index += gridDim.x) {
    const Tile tile = tile_at(index, size);
#pragma unroll 1
    for (int step = 0; step < size.steps; ++step) {
      wait_phase(ring.empty(at.stage), at.phase ^ 1);
      const std::uint32_t full = ring.full(at.stage), to = ring.stage(at.stage);
      arrive_expecting(full, sm90_stage_bytes);
      load_box(to, a, step * depth, tile.row, full);
      load_box(to + sm90_operand_bytes, b, step * depth, tile.column, full);
      at.advance();
    }
  }
}

// Adds a stage's products; `first`: to zero.
template <typename T>
__device__ __forceinline__ void multiply_stage(WarpgroupSums& sums, std::uint32_t stage,
                                               int warpgroup, bool first) {
  const std::uint64_t a = matrix_descriptor(stage + warpgroup * sm90_rows * 128);
  const std::uint64_t b = matrix_descriptor(stage + sm90_operand_bytes);
  fence_products();
#pragma unroll
  for (int part = 0; part < 4; ++part)  // of 32 bytes
    multiply_async<T>(sums, a + 2 * part, b + 2 * part, part > 0 || !first);
  commit_products();
}

// The sums of one tile: products run one stage behind the barriers.
template <typename T>
__device__ __forceinline__ void sum_tile(WarpgroupSums& sums, const Ring& ring, Place& at,
                                         int steps, int warpgroup) {
  const bool speaks = threadIdx.x % 32 == 0;
  int last = at.stage;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_phase(ring.full(at.stage), at.phase);
    multiply_stage<T>(sums, ring.stage(at.stage), warpgroup, step == 0);
    wait_products<1>();
    if (step > 0 && speaks) arrive(ring.empty(last));
    last = at.stage;
    at.advance();
  }
  wait_products<0>();
  hold(sums);
  if (speaks) arrive(ring.empty(last));
}

// The same for 8-bit floats. Their products are summed in registers of fewer bits than f32 (about
// 14: DeepSeek-V3, arXiv:2412.19437, section 3.3.2), so each 128 of k are added up in f32 apart.
template <>
__device__ __forceinline__ void sum_tile<__nv_fp8_e4m3>(WarpgroupSums& sums, const Ring& ring,
                                                        Place& at, int steps, int warpgroup) {
#pragma unroll
  for (int i = 0; i < 64; ++i) sums[i] = 0;
  WarpgroupSums part;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_phase(ring.full(at.stage), at.phase);
    multiply_stage<__nv_fp8_e4m3>(part, ring.stage(at.stage), warpgroup, true);
    wait_products<0>();
    hold(part);
    if (threadIdx.x % 32 == 0) arrive(ring.empty(at.stage));
#pragma unroll
    for (int i = 0; i < 64; ++i) sums[i] += part[i];
    at.advance();
  }
}

// Multiplies by the factors of row and column; those beyond C are not read.
__device__ __forceinline__ void scale(WarpgroupSums& sums, const Scales& scales,
                                      const Sm90Sizes& size, int row, int column) {
  const float low = row < size.m ? scales.rows[row] : 0;
  const float high = row + 8 < size.m ? scales.rows[row + 8] : 0;
#pragma unroll
  for (int j = 0; j < 16; ++j) {  // n is even, `column` too
    const float2 c = column + 8 * j < size.n
                         ? *reinterpret_cast<const float2*>(scales.columns + column + 8 * j)
                         : float2{0, 0};
    sums[4 * j] *= low * c.x;
    sums[4 * j + 1] *= low * c.y;
    sums[4 * j + 2] *= high * c.x;
    sums[4 * j + 3] *= high * c.y;
  }
}

// To `box` in shared memory as two boxes of 64 columns, swizzled as the copy expects it.
template <typename Result>
__device__ __forceinline__ void put_result(const WarpgroupSums& sums, std::uint32_t box) {
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane % 16;
#pragma unroll
  for (int j = 0; j < 8; ++j) {  // 16 columns: four matrices
    const float* s = sums + 8 * j;
    const int piece = 2 * (j % 4) + lane / 16;
    store_matrices(box + j / 4 * sm90_box_bytes + row * 128 + (piece ^ row % 8) * 16,
                   {packed<Result>(s[0], s[1]), packed<Result>(s[2], s[3]),
                    packed<Result>(s[4], s[5]), packed<Result>(s[6], s[7])});
  }
}

template <typename T, typename Result>
__device__ __forceinline__ void consume(const Ring& ring, const CUtensorMap& c,
                                        const Sm90Sizes& size, const Scales& scales) {
  const int warpgroup = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
  const std::uint32_t box = ring.result(warpgroup);
  Place at;
  for (int index = blockIdx.x; index < size.m_tiles * size.n_tiles; index += gridDim.x) {
    WarpgroupSums sums;
    sum_tile<T>(sums, ring, at, size.steps, warpgroup);
    const Tile tile = tile_at(index, size);
    const int row = tile.row + warpgroup * sm90_rows;
    if constexpr (sizeof(T) == 1)
      scale(sums, scales, size, row + threadIdx.x / 32 % 4 * 16 + lane / 4,
            tile.column + 2 * (lane % 4));
    if (threadIdx.x % 128 == 0) wait_stores_read();  // of the last tile
    sync_warpgroup(1 + warpgroup);
    put_result<Result>(sums, box);
    fence_for_copies();
    sync_warpgroup(1 + warpgroup);
    if (threadIdx.x % 128 == 0) {
      store_box(c, tile.column, row, box);
      store_box(c, tile.column + 64, row, box + sm90_box_bytes);
      commit_stores();
    }
  }
  if (threadIdx.x % 128 == 0) wait_stores_read();
}

template <typename T, typename Result>
__global__ void __launch_bounds__(sm90_threads, 1)
    gemm_sm90(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
              const __grid_constant__ CUtensorMap c, Sm90Sizes size, Scales scales) {
  extern __shared__ uint4 shared[];
  const Ring ring = {(shared_address(shared) + 1023) / 1024 * 1024};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < sm90_stages; ++stage) {
      init_barrier(ring.full(stage), 1);
      init_barrier(ring.empty(stage), sm90_consumer_warps);
    }
    fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    shrink_registers<producer_registers>();
    if (threadIdx.x == 0) produce<T>(ring, a, b, size);
  } else {
    grow_registers<consumer_registers>();
    consume<T, Result>(ring, c, size, scales);
  }
}

// Operands as in launch.h; `result_type` is the Element of Result.
template <typename T, typename Result>
void launch_sm90(const GemmShape& shape, Element result_type, const void* activations,
                 const void* weights, const Scales& scales, void* result, cudaStream_t stream) {
  const auto kernel = gemm_sm90<T, Result>;
  GPU_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sm90_shared_bytes));
  int device = 0, sms = 0;
  GPU_CHECK(cudaGetDevice(&device));
  GPU_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const auto tiles = [](std::int64_t of, std::int64_t in) {
    return static_cast<int>((of + in - 1) / in);
  };
  const Sm90Sizes size = {tiles(shape.m, sm90_tile), tiles(shape.n, sm90_tile),
                          tiles(shape.k, 128 / sizeof(T)), static_cast<int>(shape.m),
                          static_cast<int>(shape.n)};
  kernel<<<std::min(sms, size.m_tiles * size.n_tiles), sm90_threads, sm90_shared_bytes, stream>>>(
      matrix_map(shape.type, activations, shape.m, shape.k, sm90_tile),
      matrix_map(shape.type, weights, shape.n, shape.k, sm90_tile),
      matrix_map(result_type, result, shape.m, shape.n, sm90_rows), size, scales);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace
}  // namespace warpmeter
