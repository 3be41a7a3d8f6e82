// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define WARPMETER_HOST_DEVICE __host__ __device__
#else
#define WARPMETER_HOST_DEVICE
#endif

namespace warpmeter {

// The word at index `i` of every data set: a multiplicative hash (Knuth's constant) whose halves
// are folded, so that all bits look random and host and device can both compute it. Data with
// structure would flatter power, clocks and compressed memory.
WARPMETER_HOST_DEVICE inline std::uint32_t pattern_word(std::uint32_t i, std::uint32_t seed) {
  const std::uint32_t mixed = (i + seed) * 0x9e3779b1u + seed;
  return mixed ^ (mixed >> 15);
}

}  // namespace warpmeter
