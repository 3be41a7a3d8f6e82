// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace emulator {

// The 64-bit object in shared memory, packed as only this GPU does it. A phase ends when no arrival
// is pending and as many bytes have come as were expected.
struct Mbarrier {
  std::uint32_t expected = 0;  // arrivals of a phase
  std::uint32_t pending = 0;   // arrivals still to come
  std::int32_t bytes = 0;      // expected and not there yet
  std::uint32_t phase = 0;     // 0 or 1

  static Mbarrier load(const std::byte* at) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    Mbarrier b;
    b.expected = static_cast<std::uint32_t>(bits & 0xfffff);
    b.pending = static_cast<std::uint32_t>(bits >> 20 & 0xfffff);
    b.bytes = static_cast<std::int32_t>(bits >> 40 & 0x3fffff) - 0x200000;
    b.phase = static_cast<std::uint32_t>(bits >> 63);
    return b;
  }
  void store(std::byte* at) const {
    const std::uint64_t bits = std::uint64_t{phase} << 63 |
                               static_cast<std::uint64_t>(bytes + 0x200000) << 40 |
                               std::uint64_t{pending} << 20 | expected;
    std::memcpy(at, &bits, sizeof bits);
  }
  void end_phase_if_complete() {
    if (pending != 0 || bytes != 0) return;
    pending = expected;
    phase ^= 1;
  }
};

}  // namespace emulator
