// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What calls through pointers and recursive calls do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/decode/control.h"
#include "emulator/decode/lanes.h"
#include "emulator/machine/fault.h"

namespace emulator {
namespace control {
namespace {

constexpr std::size_t deepest = 256;  // recursive calls

std::byte* local_of(Warp& w, int lane, std::uint64_t offset) {
  return w.local + static_cast<std::size_t>(lane) * w.program().local_bytes + offset;
}

// Calls f(register or memory, bytes) for each piece of a lane's state; a predicate is one byte.
template <typename F>
void for_state(Warp& w, int lane, F&& f) {
  for (const SavedState::Register& r : w.program().saved.registers) {
    if (r.bytes != 0) {
      f(w.file + r.offset + static_cast<std::uint32_t>(lane) * r.bytes, r.bytes);
      continue;
    }
    std::byte bit{static_cast<unsigned char>(predicate(w, r.offset) >> lane & 1)};
    f(&bit, 1u);
    set_predicate(w, r.offset, std::to_integer<unsigned>(bit) << lane, 1u << lane);
  }
  for (const ParamSlot& piece : w.program().saved.locals) {
    f(local_of(w, lane, piece.offset), piece.size);
  }
}

}  // namespace

void call_indirect(Warp& w, const Instr& i, std::uint32_t mask) {
  const auto& callables = w.program().callables;
  const std::int32_t* from = &w.program().extra[i.extra];
  std::array<std::uint32_t, 32> targets{};
  for_lanes(mask, [&](int l) {
    const std::uint64_t address = lane_of<std::uint64_t>(w, i.a, l);
    const auto found = std::find_if(callables.begin(), callables.end(),
                                    [address](const Callable& c) { return c.address == address; });
    const auto count = static_cast<std::size_t>(from[0]);
    if (found == callables.end() || found->params.size() != count) {
      w.fail(cudaErrorIllegalInstruction, i, l,
             fmt::format("a call of {:#x}, where there is no function with such parameters (or one "
                         "that is running already)",
                         address));
    }
    for (std::size_t n = 0; n < count; ++n) {
      std::memcpy(local_of(w, l, found->params[n].offset),
                  local_of(w, l, static_cast<std::uint64_t>(from[n + 1])), found->params[n].size);
    }
    lane_of<std::uint32_t>(w, found->return_slot, l) = w.pc;
    lane_of<std::uint32_t>(w, i.dst, l) = static_cast<std::uint32_t>(found - callables.begin());
    targets[static_cast<std::size_t>(l)] = found->entry;
  });
  w.scatter(mask, targets.data());
}

void collect_result(Warp& w, const Instr& i, std::uint32_t mask) {
  for_lanes(mask, [&](int l) {
    const Callable& callee = w.program().callables[lane_of<std::uint32_t>(w, i.dst, l)];
    if (callee.results.empty()) return;
    std::memcpy(local_of(w, l, i.target), local_of(w, l, callee.results[0].offset),
                callee.results[0].size);
  });
}

void save_state(Warp& w, const Instr& i, std::uint32_t mask) {
  if (w.call_stacks.empty()) w.call_stacks.resize(32);
  for_lanes(mask, [&](int l) {
    auto& stack = w.call_stacks[static_cast<std::size_t>(l)];
    if (stack.size() >= deepest * w.program().saved.bytes) {
      w.fail(cudaErrorIllegalAddress, i, l, fmt::format("more than {} recursive calls", deepest));
    }
    for_state(w, l, [&stack](const std::byte* at, std::uint32_t bytes) {
      stack.insert(stack.end(), at, at + bytes);
    });
  });
}

void restore_state(Warp& w, const Instr& i, std::uint32_t mask) {
  for_lanes(mask, [&](int l) {
    auto& stack = w.call_stacks[static_cast<std::size_t>(l)];
    const std::byte* result = local_of(w, l, static_cast<std::uint64_t>(i.offset));
    const std::vector<std::byte> kept(result, result + i.extra);
    const std::byte* from = stack.data() + (stack.size() - w.program().saved.bytes);
    for_state(w, l, [&from](std::byte* at, std::uint32_t bytes) {
      std::memcpy(at, from, bytes);
      from += bytes;
    });
    stack.erase(stack.end() - static_cast<std::ptrdiff_t>(w.program().saved.bytes), stack.end());
    std::memcpy(local_of(w, l, i.target), kept.data(), kept.size());
  });
}

}  // namespace control
}  // namespace emulator
