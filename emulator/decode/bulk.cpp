// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// cp.async.bulk and cp.reduce.async.bulk without tensors, and cp.async.mbarrier.arrive.
#include "emulator/decode/bulk.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "emulator/decode/mbarrier.h"
#include "emulator/machine/address.h"
#include "emulator/machine/block.h"
#include "emulator/machine/device.h"
#include "emulator/machine/fault.h"

namespace emulator {

std::uint64_t bulk_address(Warp& w, std::int32_t slot, int lane, bool wide) {
  return (wide ? lane_of<std::uint64_t>(w, slot, lane) : lane_of<std::uint32_t>(w, slot, lane)) &
         ~window_mask;
}

std::byte* bulk_shared(Warp& w, const Instr& i, int lane, std::uint64_t address,
                       std::uint64_t bytes) {
  return resolve_one(w, i, lane, address | shared_window, static_cast<std::uint32_t>(bytes));
}

void deliver(Warp& w, const Instr& i, int lane, const Delivery& delivery,
             const std::function<void(std::byte*)>& write) {
  const std::uint32_t blocks = delivery.blocks;
  const auto bytes = static_cast<std::int32_t>(delivery.bytes);
  // With a mask: to the same offset in each block of the mask, with each block's barrier.
  for (std::uint32_t rest = blocks == 0 ? 1 : blocks; rest != 0; rest &= rest - 1) {
    const std::uint64_t selector = (static_cast<std::uint64_t>(std::countr_zero(rest)) + 1) << 24;
    const std::uint64_t target = blocks == 0 ? delivery.to : (delivery.to & 0xffffff) | selector;
    const std::uint64_t signal =
        blocks == 0 ? delivery.barrier : (delivery.barrier & 0xffffff) | selector;
    std::byte* at = bulk_shared(w, i, lane, target, delivery.span);
    std::byte* bar = bulk_shared(w, i, lane, signal, 8);
    const std::weak_ptr<Block> owner =
        w.block().peer(static_cast<std::uint32_t>(target >> 24))->weak_from_this();
    w.block().grid().device->at(delivery.done, [owner, at, bar, bytes, write] {
      if (owner.expired()) return;
      write(at);
      Mbarrier b = Mbarrier::load(bar);
      b.bytes -= bytes;
      b.end_phase_if_complete();
      b.store(bar);
    });
  }
}

void note_bulk_store(Warp& w, std::uint64_t done) {
  AsyncGroup& group = w.bulk_groups.back();
  group.done = std::max(group.done, done);
  // Copies on their way belong to the grid's time.
  Grid& grid = w.block().grid();
  grid.end_cycle = std::max(grid.end_cycle, done);
}

std::string_view reduction_of(const ptx::Instruction& in) {
  for (const std::string_view op : {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
    if (in.has(op)) return op;
  }
  return {};
}

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

enum class Direction : std::uint8_t { to_shared, to_global, shared_to_shared, to_l2 };

// Operands in Program::extra: destination, source, mbarrier (or -1), block mask (or -1), index of
// the opcode's text (of reductions) ; bits of Instr::count say which are 64-bit registers.
void copy(Warp& w, const Instr& i, U32 mask) {
  const std::int32_t* p = &w.program().extra[i.extra];
  const auto direction = static_cast<Direction>(i.mode);
  for_lanes(mask, [&](int l) {
    const U32 size = lane_of<U32>(w, i.b, l);
    const U64 from = bulk_address(w, p[1], l, (i.count & 2) != 0);
    const U64 to = direction == Direction::to_l2 ? 0 : bulk_address(w, p[0], l, (i.count & 1) != 0);
    if (size % 16 != 0 || (to | from) % 16 != 0) {
      w.fail(cudaErrorMisalignedAddress, i, l,
             "a bulk copy moves multiples of 16 B between multiples of 16");
    }
    Device& device = *w.block().grid().device;
    const bool from_global = direction == Direction::to_shared || direction == Direction::to_l2;
    const std::byte* source =
        from_global ? resolve_one(w, i, l, from, size) : bulk_shared(w, i, l, from, size);
    // Between blocks: as if shared memory moved 32 B per cycle.
    const bool writes = direction == Direction::to_global;
    const MemoryModel::BulkPiece piece{writes ? to : from, size};
    const U64 done = direction == Direction::shared_to_shared
                         ? w.now + static_cast<U64>(device.chip().cluster_latency) + size / 32
                         : device.model().bulk(w.block().sm(), {&piece, 1}, size, writes, w.now);
    if (direction == Direction::to_l2) return;
    const auto reduction = reinterpret_cast<BulkReduction>(i.offset);
    if (direction == Direction::to_global) {
      std::byte* target = resolve_one(w, i, l, to, size);
      if (reduction != nullptr) {
        reduction(target, source, size);
      } else {
        std::memcpy(target, source, size);
      }
      note_bulk_store(w, done);
      return;
    }
    const U64 barrier = bulk_address(w, p[2], l, (i.count & 4) != 0);
    const U32 blocks = p[3] == -1 ? 0 : lane_of<std::uint16_t>(w, p[3], l);
    const auto data = std::make_shared<std::vector<std::byte>>(source, source + size);
    deliver(w, i, l, {to, barrier, blocks, size, size, done}, [data, reduction](std::byte* at) {
      if (reduction != nullptr) {
        reduction(at, data->data(), data->size());
      } else {
        std::memcpy(at, data->data(), data->size());
      }
    });
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

// cp.async.bulk.TO.FROM, cp.reduce.async.bulk.TO.FROM, cp.async.bulk.prefetch.L2.global
void decode_copy(Builder& b) {
  Instr& out = b.out;
  const bool reduces = b.in.parts[1] == "reduce";
  const bool prefetches = b.in.has("prefetch");
  const std::size_t first = reduces ? 4 : 3;
  const bool to_global = b.in.parts.at(first) == "global";
  const bool from_global = b.in.parts.at(first + 1) == "global";
  const Direction direction = prefetches    ? Direction::to_l2
                              : to_global   ? Direction::to_global
                              : from_global ? Direction::to_shared
                                            : Direction::shared_to_shared;
  out.mode = static_cast<std::uint8_t>(direction);
  out.count = 0;
  if (reduces) {
    const auto reduction = bulk_reduction(reduction_of(b.in), b.in.type().name);
    if (reduction == nullptr) b.unsupported();
    out.offset = reinterpret_cast<std::int64_t>(reduction);
  }
  std::vector<std::int32_t> places;
  std::size_t at = 0;
  const auto add = [&](std::uint8_t bit) {
    ptx::Space space = ptx::Space::shared;
    std::int64_t offset = 0;
    bool wide = true;
    places.push_back(b.address_slot(b.operand(at++), offset, wide, space));
    if (offset != 0) b.unsupported("an address with an offset");
    if (wide) out.count = static_cast<std::uint8_t>(out.count | bit);
  };
  if (prefetches) {
    places.push_back(-1);
  } else {
    add(1);
  }
  add(2);
  out.b = b.use(b.operand(at++), 4);
  if (direction == Direction::to_shared || direction == Direction::shared_to_shared) {
    add(4);
    places.push_back(b.in.has("multicast::cluster") ? b.use(b.operand(at), 2) : -1);
  } else {
    if (b.in.has("cp_mask")) b.unsupported("a byte mask");
    places.insert(places.end(), {-1, -1});
  }
  out.extra = b.extra(places);
  out.run = copy;
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
  } else if (b.in.has("commit_group")) {
    out.run = commit;
  } else if (b.in.has("wait_group")) {
    out.offset = static_cast<std::int64_t>(b.immediate(b.operand(0)));
    out.run = wait;
  } else if (b.in.has("tensor")) {
    decode_tensor_copy(b);
  } else {
    decode_copy(b);
  }
}

}  // namespace emulator
