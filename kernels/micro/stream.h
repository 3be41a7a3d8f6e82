// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/stamp.h"
#include "kernels/micro/load_path.h"

namespace warpmeter {

inline constexpr int stream_threads = 512;  // per block
inline constexpr int stream_unroll = 4;     // independent 16 B accesses per thread and trip
inline constexpr std::size_t stream_tile =
    16 * stream_threads * stream_unroll;  // B per block and trip

// Blocks take tiles of stream_tile bytes in turn. Each stamps itself; stamps may be null.

// Reads `tiles` tiles `passes` times; sums[thread of grid] gets the sum of the words it read,
// modulo 2^32. Bytes: passes * tiles * stream_tile.
struct ReadArgs {
  const uint4* data = nullptr;
  std::uint64_t tiles = 0;
  std::uint32_t passes = 1;
  std::uint32_t* sums = nullptr;
  Stamp* stamps = nullptr;
};
void launch_read(const ReadArgs& args, LoadPath path, int blocks, cudaStream_t stream);
const void* read_kernel(LoadPath path);

// Writes pattern_word(i, seed) to every word i. Bytes: passes * tiles * stream_tile.
struct WriteArgs {
  uint4* data = nullptr;
  std::uint64_t tiles = 0;
  std::uint32_t passes = 1;
  std::uint32_t seed = 0;
  Stamp* stamps = nullptr;
};
void launch_write(const WriteArgs& args, int blocks, cudaStream_t stream);
const void* write_kernel();

// Copies `vectors` x 16 B, any number, from and to any memory that this device can address (its
// own, mapped host memory, a peer's). Bytes read plus written: passes * 2 * 16 * vectors.
struct CopyArgs {
  const uint4* from = nullptr;
  uint4* to = nullptr;
  std::uint64_t vectors = 0;
  std::uint32_t passes = 1;
  Stamp* stamps = nullptr;
};
void launch_copy(const CopyArgs& args, int blocks, cudaStream_t stream);
const void* copy_kernel();

}  // namespace warpmeter
