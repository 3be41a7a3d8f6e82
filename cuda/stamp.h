// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

namespace warpmeter {

// What the first thread of a block saw around the block's timed loop. Cycles are comparable only
// within one SM; times are comparable across the device.
struct Stamp {
  std::uint64_t clock_begin = 0;    // cycle, %clock64
  std::uint64_t clock_end = 0;      // cycle
  std::uint64_t time_begin_ns = 0;  // ns, %globaltimer
  std::uint64_t time_end_ns = 0;    // ns
  std::uint32_t sm = 0;             // %smid; never assumed dense
  std::uint32_t written = 0;        // 1 once the block has run
};

}  // namespace warpmeter
