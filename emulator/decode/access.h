// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>

#include "emulator/decode/lanes.h"

namespace emulator {

using Pointers = std::array<std::byte*, 32>;

// The bytes that each lane of `mask` addresses through a register or constant at `slot` + `offset`.
// Checks bounds, alignment to `bytes` and access rights, and notes the access for the clock model.
// Throws Fault with what a GPU would report.
void resolve(Warp& warp, const Instr& instr, std::uint32_t mask, ptx::Space space,
             std::int32_t slot, bool wide, std::int64_t offset, std::uint32_t bytes,
             Pointers& pointers);

inline void resolve(Warp& warp, const Instr& instr, std::uint32_t mask, Pointers& pointers) {
  resolve(warp, instr, mask, instr.space, instr.a, instr.wide_address, instr.offset,
          static_cast<std::uint32_t>(instr.bytes) * instr.count, pointers);
}

// One generic address of one lane, for calls such as printf.
std::byte* resolve_one(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                       std::uint32_t bytes);

}  // namespace emulator
