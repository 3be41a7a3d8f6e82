// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string_view>

#include "emulator/machine/program.h"

namespace emulator {

Special find_special(std::string_view name);  // "%tid.x"; Special::none if unknown

namespace control {

// Handlers that the decoder places itself.
void exit_lanes(Warp& warp, const Instr& instr, std::uint32_t mask);
void return_lanes(Warp& warp, const Instr& instr, std::uint32_t mask);  // a: slot of the target
void call(Warp& warp, const Instr& instr, std::uint32_t mask);          // dst: slot of the return
// extra bytes from `offset` to `target` of each lane's local memory.
void copy_local(Warp& warp, const Instr& instr, std::uint32_t mask);

// Calls through a pointer in `a` with arguments at Program::extra; which one goes to slot dst.
void call_indirect(Warp& warp, const Instr& instr, std::uint32_t mask);
// The result of the function that slot dst names goes to `target`.
void collect_result(Warp& warp, const Instr& instr, std::uint32_t mask);
// Before and after a recursive call: all functions' state to a stack and back. The extra bytes at
// `offset` are the result, which goes to `target`.
void save_state(Warp& warp, const Instr& instr, std::uint32_t mask);
void restore_state(Warp& warp, const Instr& instr, std::uint32_t mask);

// vprintf and __assertfail: arguments lie in local memory at Program::extra[instr.extra...], the
// result goes to `target`.
bool is_host_call(std::string_view name);
Handler host_call(std::string_view name);

}  // namespace control
}  // namespace emulator
