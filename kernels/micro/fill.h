// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace warpmeter {

// data[i] = pattern_word(i, seed) for all `words`.
struct FillArgs {
  std::uint32_t* data = nullptr;
  std::uint64_t words = 0;
  std::uint32_t seed = 0;
};
void launch_fill(const FillArgs& args, cudaStream_t stream);

// Turns `lines` lines of `stride` bytes at `base` into a ring: the first word of line i holds the
// address of line next[i].
struct LinkArgs {
  char* base = nullptr;
  const std::uint32_t* next = nullptr;
  std::uint64_t lines = 0;
  std::uint64_t stride = 0;  // B
};
void launch_link(const LinkArgs& args, cudaStream_t stream);

}  // namespace warpmeter
