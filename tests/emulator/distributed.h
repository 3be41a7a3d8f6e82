// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

// Cycles of `hops` dependent loads (a multiple of 128) of the first block of a cluster of two from
// shared memory of block `rank`. `cycles` is managed memory.
void run_hop(int rank, int hops, std::uint64_t* cycles);
