// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "emulator/machine/block.h"

namespace emulator {

bool checks_enabled() {
  static const bool enabled = [] {
    const char* value = std::getenv("WARPMETER_EMULATED_CHECKS");
    if (value == nullptr || std::string_view(value) == "on") return true;
    if (std::string_view(value) == "off") return false;
    throw std::runtime_error(
        fmt::format("WARPMETER_EMULATED_CHECKS is \"{}\"; it must be \"on\" or \"off\"", value));
  }();
  return enabled;
}

void warn(const Warp& warp, const Instr& instr, int lane, std::uint32_t other_line,
          const std::string& what) {
  static std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> said;
  if (!said.insert({warp.program().name, instr.line, other_line}).second) return;
  std::fprintf(stderr, "warpmeter emulated GPU: warning: %s: %s\n", warp.where(instr, lane).c_str(),
               what.c_str());
}

void set_many(std::uint8_t* bits, std::uint64_t at, std::uint64_t count) {
  for (; count > 0 && at % 8 != 0; ++at, --count) {
    bits[at / 8] = static_cast<std::uint8_t>(bits[at / 8] | 1u << (at % 8));
  }
  std::memset(bits + at / 8, 0xff, count / 8);
  at += count / 8 * 8;
  for (count %= 8; count > 0; ++at, --count) {
    bits[at / 8] = static_cast<std::uint8_t>(bits[at / 8] | 1u << (at % 8));
  }
}

SharedShadow::SharedShadow(std::uint32_t bytes, std::size_t warps)
    : initialized_(bytes / 8 + 16), cells_(warps > 1 ? bytes / 4 + 1 : 0) {}

void SharedShadow::touch(const Warp& warp, const Instr& instr, int lane, std::uint64_t offset,
                         std::uint32_t bytes) {
  const Effect effect = instr.effect;
  if (effect == Effect::none) return;
  // Bulk accesses are of any size, and ordered by their mbarriers.
  if (effect == Effect::other || effect == Effect::update || instr.cache == CacheOp::volatile_) {
    order();
  }
  const bool reads = effect == Effect::read || effect == Effect::update;
  if (reads && !any_bit(initialized_.data(), offset, bytes)) {
    warn(warp, instr, lane, 0,
         fmt::format("reads uninitialized shared memory, {} B at {:#x}", bytes, offset));
  }
  if (effect != Effect::read) set_range(initialized_.data(), offset, bytes);
  if (warp.block().shadow.get() != this) order();  // from another block of the cluster
  if (cells_.empty() || warp.block().shadow.get() != this || effect == Effect::other ||
      effect == Effect::update || instr.cache == CacheOp::volatile_) {
    return;
  }
  for (std::uint64_t at = offset; at < offset + bytes;) {
    const std::uint64_t end = std::min(at / 4 * 4 + 4, offset + bytes);
    const auto mask = static_cast<std::uint8_t>(((1u << (end - at)) - 1) << (at % 4));
    touch_cell(cells_[at / 4], warp, instr, lane, mask, effect != Effect::read);
    at = end;
  }
}

void SharedShadow::touch_cell(Cell& cell, const Warp& warp, const Instr& instr, int lane,
                              std::uint8_t mask, bool writes) {
  const auto self = static_cast<std::uint16_t>(warp.index());
  if (cell.epoch != epoch_) {
    cell = Cell{};
    cell.epoch = epoch_;
  }
  if ((cell.written & mask) != 0 && cell.writer != self) {
    warn(warp, instr, lane, cell.write_line,
         fmt::format("{} shared memory that warp {} wrote at PTX line {}, with no barrier between",
                     writes ? "writes" : "reads", cell.writer, cell.write_line));
  }
  if (writes && (cell.read & mask) != 0 && (cell.reader != self || cell.many_readers)) {
    warn(warp, instr, lane, cell.read_line,
         fmt::format("writes shared memory that warp {} read at PTX line {}, with no barrier "
                     "between",
                     cell.reader, cell.read_line));
  }
  if (writes) {
    cell.written = cell.writer == self ? cell.written | mask : mask;
    cell.writer = self;
    cell.write_line = instr.line;
    return;
  }
  // The masks of different readers are not kept apart: of unlike ones only the last counts.
  const bool others = cell.read != 0 && cell.reader != self;
  cell.many_readers = others ? cell.read == mask : cell.many_readers && cell.read == mask;
  if (others && cell.many_readers) return;  // the first one stays
  cell.read = others ? mask : cell.read | mask;
  cell.reader = self;
  cell.read_line = instr.line;
}

}  // namespace emulator
