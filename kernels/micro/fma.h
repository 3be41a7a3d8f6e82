// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/stamp.h"

namespace warpmeter {

// x = x * scale + offset, rounded once, in f32. fma.rn is exact enough to be checked to the bit
// against the host's fma.
struct FmaArgs {
  const float* start = nullptr;  // one per thread of a block
  float scale = 0;
  float offset = 0;
  std::uint32_t trips = 0;
  float* result = nullptr;  // one per thread of the grid
  Stamp* stamps = nullptr;  // one per block
};

inline constexpr int fma_chain_unroll = 64;

// One warp, one dependent chain: fma_chain_unroll * trips steps.
void launch_fma_chain(const FmaArgs& args, cudaStream_t stream);
const void* fma_chain_kernel();

inline constexpr int fma_threads = 1024;  // per block; one block fills the issue slots of an SM
inline constexpr int fma_chains = 8;      // independent chains per thread
inline constexpr int fma_unroll = 24;     // steps of each chain per trip

// Independent chains: chain j of a thread starts at start + j, and the thread's result is the sum
// of its chains in order. Operations: 2 * blocks * fma_threads * fma_chains * fma_unroll * trips.
void launch_fma_throughput(const FmaArgs& args, int blocks, cudaStream_t stream);
const void* fma_throughput_kernel();

}  // namespace warpmeter
