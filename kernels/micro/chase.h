// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/stamp.h"
#include "kernels/micro/load_path.h"

namespace warpmeter {

inline constexpr int chase_unroll = 16;  // hops per trip of the timed loop

// One thread follows a ring of addresses: one load per hop, whose result is the next address.
// Time per hop = loop time / (chase_unroll * trips).
struct ChaseArgs {
  const char* start = nullptr;    // a line of the ring
  const char** finish = nullptr;  // gets the line after the last hop
  Stamp* stamp = nullptr;
  std::uint32_t* claim = nullptr;  // zero; the block that chases sets it
  std::int32_t sm = -1;            // only a block on this SM chases; -1: any
  std::uint32_t warm_hops = 0;     // untimed hops before, in the same launch: L1 starts empty
  std::uint32_t trips = 0;
};

// One block of one thread per grid element; with `args.sm` set, launch several blocks per SM, so
// that one of them lands there.
void launch_chase(const ChaseArgs& args, LoadPath path, int blocks, cudaStream_t stream);
const void* chase_kernel(LoadPath path);

}  // namespace warpmeter
