// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpmeter {

// B: half a line of L1 and L2 since Volta. A stride above the line would leave lines out, and the
// capacity would seem larger than it is.
inline constexpr std::uint32_t chase_stride = 64;

// A cycle of nodes in memory that a chase follows. Node i lies `offset[i]` units
// (kernels/micro/fill.h) from the start and is followed by node next[i].
struct Ring {
  std::vector<std::uint32_t> next;
  std::vector<std::uint32_t> offset;
  std::size_t bytes = 0;  // of the memory that holds it

  std::size_t size() const { return next.size(); }
};

// One node in every 64 B of `bytes`, on one random cycle.
Ring random_ring(std::size_t bytes, std::uint64_t seed);

// The same, random only inside each 2 MiB, so that translations are used up before the next page
// is touched.
Ring paged_ring(std::size_t bytes, std::uint64_t seed);

// One node in every 512 B, in a random one of its 32 B sectors: fills the lines of a cache without
// filling their sectors, so that a cache of L lines of up to 512 B holds L nodes.
inline constexpr std::uint32_t sparse_stride = 512;  // B
Ring sparse_ring(std::size_t bytes, std::uint64_t seed);

// Two nodes in every 256 B, the second `distance` bytes (a multiple of 16, at most 128) behind the
// first and visited right after it: the second hits what the first has fetched, or not.
inline constexpr std::uint32_t pair_stride = 256;  // B
Ring pair_ring(std::size_t bytes, std::uint32_t distance, std::uint64_t seed);

}  // namespace warpmeter
