// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/decode/access.h"

#include <fmt/format.h>

#include "emulator/machine/address.h"
#include "emulator/machine/block.h"
#include "emulator/machine/device.h"
#include "emulator/machine/fault.h"

namespace emulator {
namespace {

using ptx::Space;

[[noreturn]] void fail_global(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                              std::uint32_t bytes) {
  const Allocation* found = memory().find(address);
  const char* what = found == nullptr || address + bytes > found->end ? "out of bounds"
                     : found->freed                                   ? "use of freed memory"
                                    : "memory of a device without peer access";
  warp.fail(cudaErrorIllegalAddress, instr, lane,
            fmt::format("{}: {} B at {:#x}, {}", what, bytes, address, memory().describe(address)));
}

// Marks what is written; warns of a read of which no byte has ever been written.
void check_initialized(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                       std::uint32_t bytes) {
  const bool reads = instr.effect == Effect::read || instr.effect == Effect::update ||
                     instr.effect == Effect::copy;
  if (reads && !memory().any_written(address, bytes)) {
    warn(warp, instr, lane, 0,
         fmt::format("reads uninitialized memory, {} B at {:#x}, {}", bytes, address,
                     memory().describe(address)));
  }
  if (instr.effect == Effect::none || instr.effect == Effect::read ||
      instr.effect == Effect::copy) {
    return;
  }
  memory().mark(address, bytes);
}

std::byte* global(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                  std::uint32_t bytes) {
  const Allocation* hint = instr.hint;
  if (hint == nullptr || instr.hint_generation != memory().generation() || address < hint->begin ||
      address + bytes > hint->end) {
    hint = memory().live(address);
    if (hint == nullptr || address + bytes > hint->end || address + bytes < address ||
        !warp.block().grid().device->can_access(*hint)) {
      fail_global(warp, instr, lane, address, bytes);
    }
    instr.hint = hint;
    instr.hint_generation = memory().generation();
  }
  if (!hint->initialized) check_initialized(warp, instr, lane, address, bytes);
  return reinterpret_cast<std::byte*>(address);
}

void check_local(Warp& warp, const Instr& instr, int lane, std::uint64_t at, std::uint64_t offset,
                 std::uint32_t bytes) {
  if (instr.effect == Effect::none) return;
  if (instr.effect != Effect::read) {
    set_range(warp.local_written.data(), at, bytes);
  } else if (!any_bit(warp.local_written.data(), at, bytes)) {
    warn(warp, instr, lane, 0,
         fmt::format("reads uninitialized local memory, {} B at {:#x}", bytes, offset));
  }
}

std::byte* windowed(Warp& warp, const Instr& instr, int lane, Space space, std::uint64_t offset,
                    std::uint32_t bytes) {
  std::byte* base = nullptr;
  std::uint64_t size = 0;
  SharedShadow* shadow = nullptr;
  const char* name = "shared";
  if (space == Space::shared) {
    Block* block = warp.block().peer(static_cast<std::uint32_t>(offset >> 24));
    offset &= 0xffffff;
    if (block == nullptr) {
      warp.fail(cudaErrorIllegalAddress, instr, lane, "shared memory of a block that has ended");
    }
    base = block->shared.get();
    size = block->shared_bytes;
    shadow = block->shadow.get();
  } else if (space == Space::local) {
    size = warp.program().local_bytes;
    base = warp.local + static_cast<std::uint64_t>(lane) * size;
    name = "local";
  } else {
    base = warp.block().grid().params.data();
    size = warp.block().grid().params.size();
    name = "parameter";
  }
  if (offset + bytes > size || offset + bytes < offset) {
    warp.fail(cudaErrorIllegalAddress, instr, lane,
              fmt::format("out of bounds: {} B at {:#x} of {} B of {} memory", bytes, offset, size,
                          name));
  }
  if (shadow != nullptr) shadow->touch(warp, instr, lane, offset, bytes);
  if (space == Space::local && !warp.local_written.empty()) {
    check_local(warp, instr, lane, static_cast<std::uint64_t>(lane) * size + offset, offset, bytes);
  }
  return base + offset;
}

Space window_space(std::uint64_t address) {
  switch (address & window_mask) {
    case shared_window:
      return Space::shared;
    case local_window:
      return Space::local;
    case param_window:
      return Space::param;
    default:
      return Space::global;
  }
}

}  // namespace

void resolve(Warp& warp, const Instr& instr, std::uint32_t mask, Space space, std::int32_t slot,
             bool wide, std::int64_t offset, std::uint32_t bytes, Pointers& pointers) {
  Access& access = warp.access;
  access.mask = mask;
  access.bytes = bytes;
  access.space = space == Space::generic || space == Space::constant ? Space::global : space;
  for_lanes(mask, [&](int l) {
    std::uint64_t address =
        wide ? lane_of<std::uint64_t>(warp, slot, l) : lane_of<std::uint32_t>(warp, slot, l);
    address += static_cast<std::uint64_t>(offset);
    if (!wide) address &= 0xffffffff;
    if ((bytes & (bytes - 1)) == 0 && (address & (bytes - 1)) != 0) {
      warp.fail(cudaErrorMisalignedAddress, instr, l,
                fmt::format("{} B at {:#x}, which is not a multiple of {}", bytes, address, bytes));
    }
    Space at = space;
    if (space == Space::generic) {
      at = window_space(address);
      access.space = at;
      if (at != Space::global) address &= ~window_mask;
    }
    const auto lane = static_cast<std::size_t>(l);
    access.address[lane] = address;
    pointers[lane] = at == Space::global || at == Space::constant
                         ? global(warp, instr, l, address, bytes)
                         : windowed(warp, instr, l, at, address, bytes);
  });
  if (access.space == Space::global && instr.hint != nullptr) {
    access.on_host = instr.hint->on_host();
    access.device = instr.hint->device;
  }
}

std::byte* resolve_one(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                       std::uint32_t bytes) {
  const Space space = window_space(address);
  if (space == Space::global) return global(warp, instr, lane, address, bytes);
  return windowed(warp, instr, lane, space, address & ~window_mask, bytes);
}

}  // namespace emulator
