// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "emulator/machine/op_class.h"

namespace emulator {

// What the clock model has seen, since the device began.
struct Counters {
  std::uint64_t warp_instructions = 0;
  std::array<std::uint64_t, op_classes> thread_instructions{};  // by class
  std::uint64_t l1_sectors = 0;                                 // asked for by loads
  std::uint64_t l1_hits = 0;
  std::uint64_t l2_sectors = 0;
  std::uint64_t l2_hits = 0;
  std::uint64_t l2_write_sectors = 0;
  std::uint64_t l2_atomic_sectors = 0;
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_write_bytes = 0;
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t shared_conflicts = 0;  // wavefronts beyond what the bytes need
  std::uint64_t host_bytes = 0;
  std::uint64_t peer_bytes = 0;
};

Counters operator-(const Counters& a, const Counters& b);
std::string to_json(const Counters& counters);  // one object

}  // namespace emulator
