// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// cp.async.bulk without tensors, and cp.async.mbarrier.arrive.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "emulator/decode/access.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/mbarrier.h"
#include "emulator/machine/address.h"
#include "emulator/machine/block.h"
#include "emulator/machine/device.h"
#include "emulator/machine/fault.h"

namespace emulator {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

enum class Direction : std::uint8_t { to_shared, to_global, shared_to_shared };

U64 address_of(Warp& w, std::int32_t slot, int lane, bool wide) {
  return (wide ? lane_of<U64>(w, slot, lane) : lane_of<U32>(w, slot, lane)) & ~window_mask;
}

std::byte* shared_bytes(Warp& w, const Instr& i, int lane, U64 address, U32 bytes) {
  return resolve_one(w, i, lane, address | shared_window, bytes);
}

// Operands in Program::extra: destination, source, mbarrier (or -1), block mask (or -1); bits of
// Instr::count say which are 64-bit registers.
void copy(Warp& w, const Instr& i, U32 mask) {
  const std::int32_t* p = &w.program().extra[i.extra];
  const auto direction = static_cast<Direction>(i.mode);
  for_lanes(mask, [&](int l) {
    const U32 size = lane_of<U32>(w, i.b, l);
    const U64 to = address_of(w, p[0], l, (i.count & 1) != 0);
    const U64 from = address_of(w, p[1], l, (i.count & 2) != 0);
    if (size % 16 != 0 || (to | from) % 16 != 0) {
      w.fail(cudaErrorMisalignedAddress, i, l,
             "a bulk copy moves multiples of 16 B between multiples of 16");
    }
    Device& device = *w.block().grid().device;
    const std::byte* source = direction == Direction::to_shared ? resolve_one(w, i, l, from, size)
                                                                : shared_bytes(w, i, l, from, size);
    // Between blocks: as if shared memory moved 32 B per cycle.
    const bool writes = direction == Direction::to_global;
    const U64 done =
        direction == Direction::shared_to_shared
            ? w.now + static_cast<U64>(device.chip().cluster_latency) + size / 32
            : device.model().bulk(w.block().sm(), writes ? to : from, size, writes, w.now);
    if (direction == Direction::to_global) {
      std::memcpy(resolve_one(w, i, l, to, size), source, size);
      AsyncGroup& group = w.bulk_groups.back();
      group.done = std::max(group.done, done);
      return;
    }
    const U64 barrier = address_of(w, p[2], l, (i.count & 4) != 0);
    const auto data = std::make_shared<std::vector<std::byte>>(source, source + size);
    // With a mask: to the same offset in each block of the mask, with each block's barrier.
    const U32 blocks = p[3] == -1 ? 0 : lane_of<std::uint16_t>(w, p[3], l);
    for (U32 rest = blocks == 0 ? 1 : blocks; rest != 0; rest &= rest - 1) {
      const U64 selector = (static_cast<U64>(std::countr_zero(rest)) + 1) << 24;
      const U64 target = blocks == 0 ? to : (to & 0xffffff) | selector;
      const U64 signal = blocks == 0 ? barrier : (barrier & 0xffffff) | selector;
      std::byte* at = shared_bytes(w, i, l, target, size);
      std::byte* bar = shared_bytes(w, i, l, signal, 8);
      const std::weak_ptr<Block> owner =
          w.block().peer(static_cast<U32>(target >> 24))->weak_from_this();
      device.at(done, [owner, at, bar, data] {
        if (owner.expired()) return;
        std::memcpy(at, data->data(), data->size());
        Mbarrier b = Mbarrier::load(bar);
        b.bytes -= static_cast<std::int32_t>(data->size());
        b.end_phase_if_complete();
        b.store(bar);
      });
    }
  });
}

void commit(Warp& w, const Instr&, U32) { w.bulk_groups.emplace_back(); }

void wait(Warp& w, const Instr& i, U32) {
  const std::size_t all = w.bulk_groups.size() - 1;
  const std::size_t ended = all - std::min(static_cast<std::size_t>(i.offset), all);
  for (std::size_t g = 0; g < ended; ++g)
    w.wait_until = std::max(w.wait_until, w.bulk_groups[g].done);
  w.bulk_groups.erase(w.bulk_groups.begin(),
                      w.bulk_groups.begin() + static_cast<std::ptrdiff_t>(ended));
}

// The copies by cp.async of these lanes appear, and each lane arrives, when the last of them is
// done.
void arrive_behind_copies(Warp& w, const Instr& i, U32 mask) {
  Pointers at;
  resolve(w, i, mask, at);
  w.access.space = ptx::Space::generic;
  U64 done = w.now + 1;
  std::vector<AsyncGroup::Copy> copies;
  for (const AsyncGroup& group : w.async_groups) {
    done = std::max(done, group.done);
    copies.insert(copies.end(), group.copies.begin(), group.copies.end());
  }
  const std::weak_ptr<Block> owner = w.block().weak_from_this();
  const bool counted = i.mode == 0;  // without .noinc the arrival adds itself to what is expected
  w.block().grid().device->at(done, [owner, copies, at, mask, counted] {
    if (owner.expired()) return;
    for (const AsyncGroup::Copy& one : copies) std::memcpy(one.to, one.data.data(), one.bytes);
    for_lanes(mask, [&](int l) {
      std::byte* bar = at[static_cast<std::size_t>(l)];
      Mbarrier b = Mbarrier::load(bar);
      if (!counted && b.pending > 0) --b.pending;
      b.end_phase_if_complete();
      b.store(bar);
    });
  });
}

}  // namespace

void decode_bulk(Builder& b) {
  Instr& out = b.out;
  out.op_class = OpClass::move;
  if (b.in.has("mbarrier")) {
    out.space = ptx::Space::shared;
    out.bytes = 8;
    out.mode = b.in.has("noinc") ? 1 : 0;
    b.address(b.operand(0));
    out.run = arrive_behind_copies;
    return;
  }
  if (b.in.has("tensor") || b.in.has("prefetch") || b.in.parts[1] == "reduce") b.unsupported();
  if (b.in.has("commit_group")) {
    out.run = commit;
    return;
  }
  if (b.in.has("wait_group")) {
    out.offset = static_cast<std::int64_t>(b.immediate(b.operand(0)));
    out.run = wait;
    return;
  }
  // cp.async.bulk.TO.FROM...
  const std::string_view to = b.in.parts.at(3);
  const std::string_view from = b.in.parts.at(4);
  const Direction direction = to == "global"     ? Direction::to_global
                              : from == "global" ? Direction::to_shared
                                                 : Direction::shared_to_shared;
  out.mode = static_cast<std::uint8_t>(direction);
  out.count = 0;
  std::vector<std::int32_t> places;
  const auto add = [&](const ptx::Operand& operand, std::uint8_t bit) {
    ptx::Space space = ptx::Space::shared;
    std::int64_t offset = 0;
    bool wide = true;
    places.push_back(b.address_slot(operand, offset, wide, space));
    if (offset != 0) b.unsupported("an address with an offset");
    if (wide) out.count = static_cast<std::uint8_t>(out.count | bit);
  };
  add(b.operand(0), 1);
  add(b.operand(1), 2);
  out.b = b.use(b.operand(2), 4);
  if (direction == Direction::to_global) {
    places.insert(places.end(), {-1, -1});
  } else {
    add(b.operand(3), 4);
    places.push_back(b.in.has("multicast::cluster") ? b.use(b.operand(4), 2) : -1);
  }
  out.extra = b.extra(places);
  out.run = copy;
}

}  // namespace emulator
