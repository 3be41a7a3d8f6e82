// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>

#include "cuda/check.h"
#include "cuda/instruments.h"
#include "cuda/stamp.cuh"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch_collective.h"

namespace warpmeter {
namespace {

constexpr int threads = 512;
constexpr std::uint64_t timeout_ns = 10'000'000'000;

struct Ranks {
  const void* x[most_ranks];
  std::uint32_t* signals[most_ranks];
  int count, own;
};

__device__ __forceinline__ void store_release(std::uint32_t* at, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* at) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

// Waits until this block's namesakes on all ranks have come here as often. What any of them read or
// wrote before has happened then (PTX ISA, memory consistency model: release and acquire of system
// scope, extended to the block's other threads by its barriers).
__device__ __forceinline__ void meet(const Ranks& ranks, std::uint32_t epoch) {
  __syncthreads();
  const int other = static_cast<int>(threadIdx.x);
  if (other < ranks.count) {
    const unsigned block = blockIdx.x;
    store_release(ranks.signals[other] + ranks.own * most_collective_blocks + block, epoch);
    const std::uint32_t* signal = ranks.signals[ranks.own] + other * most_collective_blocks + block;
    const std::uint64_t begin = read_timer();
    while (static_cast<std::int32_t>(load_acquire(signal) - epoch) < 0)
      if (read_timer() - begin > timeout_ns) __trap();
  }
  __syncthreads();
}

// `width` elements that another device may have written: not by the path of constants.
template <typename T, int width>
__device__ __forceinline__ void load_shared(const T* at, T (&elements)[width]) {
  if constexpr (width == 1) {
    elements[0] = *at;
  } else {
    uint4 v;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at)
                 : "memory");
    *reinterpret_cast<uint4*>(elements) = v;
  }
}

// Every rank reads all ranks' vectors, in loads that do not wait for one another, and adds them in
// the order of ranks. The first meeting makes sure that all x are there, the second that nobody
// reads them any longer when the kernel ends.
template <typename T, int width>
__global__ void __launch_bounds__(threads)
    all_reduce_one_shot(Ranks ranks, T* __restrict__ y, std::int64_t pieces) {
  std::uint32_t* reached =
      ranks.signals[ranks.own] + most_ranks * most_collective_blocks + blockIdx.x;
  const std::uint32_t epoch = *reached;
  meet(ranks, epoch + 1);
  for (std::int64_t piece = std::int64_t{blockIdx.x} * threads + threadIdx.x; piece < pieces;
       piece += std::int64_t{gridDim.x} * threads) {
    alignas(16) T elements[most_ranks][width];
#pragma unroll
    for (int rank = 0; rank < most_ranks; ++rank)
      if (rank < ranks.count)
        load_shared(static_cast<const T*>(ranks.x[rank]) + piece * width, elements[rank]);
    float sums[width];
#pragma unroll
    for (int i = 0; i < width; ++i) sums[i] = to_float(elements[0][i]);
#pragma unroll
    for (int rank = 1; rank < most_ranks; ++rank)
      if (rank < ranks.count)
#pragma unroll
        for (int i = 0; i < width; ++i) sums[i] += to_float(elements[rank][i]);
    store(y + piece * width, sums);
  }
  meet(ranks, epoch + 2);
  if (threadIdx.x == 0) *reached = epoch + 2;
}

}  // namespace

void launch_all_reduce_one_shot(const AllReduceShape& shape, int rank,
                                std::span<const void* const> x, std::span<void* const> signals,
                                void* y, cudaStream_t stream) {
  Ranks ranks{};
  ranks.count = shape.ranks;
  ranks.own = rank;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ranks.x[i] = x[i];
    ranks.signals[i] = static_cast<std::uint32_t*>(signals[i]);
  }
  for_rows_of(shape.type, shape.count, [&](auto element, auto width) {
    using T = decltype(element);
    const std::int64_t pieces = shape.count / width;
    const auto blocks =
        std::min<std::int64_t>((pieces + threads - 1) / threads, most_collective_blocks);
    all_reduce_one_shot<T, width>
        <<<static_cast<unsigned>(blocks), threads, 0, stream>>>(ranks, static_cast<T*>(y), pieces);
  });
  GPU_CHECK(cudaGetLastError());
}

void load_all_reduce_one_shot(const AllReduceShape& shape) {
  for_rows_of(shape.type, shape.count, [](auto element, auto width) {
    preload(reinterpret_cast<const void*>(&all_reduce_one_shot<decltype(element), width>));
  });
}

}  // namespace warpmeter
