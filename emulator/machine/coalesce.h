// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/machine/warp.h"

namespace emulator {

// The sectors of global memory that a warp touches, each once and in order: at most 32 lanes of
// 32 B, in sectors of 16 B or more, at any alignment.
struct Sectors {
  std::array<std::uint64_t, 128> number;
  std::size_t count = 0;
};
// A sector has 2^`shift` bytes; sector 0 begins at `origin`.
void coalesce(const Access& access, int shift, std::uint64_t origin, Sectors& sectors);

// How many lanes touch the sector.
int lanes_of(const Access& access, int shift, std::uint64_t origin, std::uint64_t sector);

// Wavefronts of an access to shared memory: each serves every bank once. The same word for several
// lanes is one access, except for atomics. Wide accesses are split into groups of lanes that move
// 128 B.
std::uint64_t wavefronts_of(const Access& access, std::uint64_t banks, bool atomic);

}  // namespace emulator
