// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

namespace emulator {

// Generic addresses outside global memory carry their space in the top byte. A shared address holds
// the rank of the block in its cluster above 24 bits of offset.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 56;
inline constexpr std::uint64_t local_window = std::uint64_t{2} << 56;
inline constexpr std::uint64_t param_window = std::uint64_t{3} << 56;
inline constexpr std::uint64_t window_mask = std::uint64_t{0xff} << 56;

}  // namespace emulator
