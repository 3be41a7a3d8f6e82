// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpmeter {

// Adds `step` to 0, 64 * rounds times, each addition waiting for the one before: one core cycle
// each on every x86-64 core. The operand is a register, because recent cores (Golden Cove) do
// additions of small immediates in the renamer, several per cycle.
inline constexpr std::size_t additions_per_round = 64;
std::uint64_t add_chain(std::uint64_t step, std::size_t rounds);

}  // namespace warpmeter
