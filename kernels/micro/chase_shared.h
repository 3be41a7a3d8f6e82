// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/stamp.h"

namespace warpmeter {

inline constexpr int chase_shared_unroll = 16;   // hops per trip of the timed loop
inline constexpr int chase_shared_stride = 128;  // B between lines

// The chase in shared memory: one ld.shared per hop, whose result is the next address.
struct ChaseSharedArgs {
  const std::uint32_t* next = nullptr;  // line numbers, in global memory
  std::uint32_t lines = 0;
  std::uint32_t trips = 0;
  std::uint32_t* finish = nullptr;  // gets the number of the line after the last hop
  Stamp* stamp = nullptr;
};

// One block with `lines` x chase_shared_stride bytes of dynamic shared memory.
void launch_chase_shared(const ChaseSharedArgs& args, cudaStream_t stream);

// Allows blocks with up to `bytes` of dynamic shared memory; loads the kernel.
void prepare_chase_shared(int bytes);

}  // namespace warpmeter
