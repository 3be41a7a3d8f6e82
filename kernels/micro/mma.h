// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/stamp.h"

namespace warpmeter {

inline constexpr int mma_threads = 512;               // per block: 4 warps on each quarter of an SM
inline constexpr int mma_accumulators = 8;            // independent per warp
inline constexpr int mma_unroll = 2;                  // products into each accumulator per trip
inline constexpr double mma_ops = 2.0 * 16 * 8 * 16;  // of one warp-wide m16n8k16

// Accumulator j of every warp becomes mma_unroll * trips times A x B_j, by mma.sync m16n8k16 with
// bf16 operands and f32 sums. Fragments are in the layout of the PTX manual, as 32-bit words:
// a[lane * 4 + r], b[(j * 32 + lane) * 2 + r], result[((warp of grid * 8 + j) * 32 + lane) * 4 +
// r]. Operations: mma_ops * warps * mma_accumulators * mma_unroll * trips.
struct MmaArgs {
  const std::uint32_t* a = nullptr;
  const std::uint32_t* b = nullptr;
  std::uint32_t trips = 0;
  float4* result = nullptr;
  Stamp* stamps = nullptr;  // one per block
};
void launch_mma(const MmaArgs& args, int blocks, cudaStream_t stream);
const void* mma_kernel();

}  // namespace warpmeter
