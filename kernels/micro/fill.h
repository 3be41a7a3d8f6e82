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

// Writes `count` addresses: at offset from[i] the address of offset to[i]. Offsets are from `base`,
// in units of link_unit.
inline constexpr std::uint64_t link_unit = 16;  // B
struct LinkArgs {
  char* base = nullptr;
  const std::uint32_t* from = nullptr;
  const std::uint32_t* to = nullptr;
  std::uint64_t count = 0;
};
void launch_link(const LinkArgs& args, cudaStream_t stream);

}  // namespace warpmeter
