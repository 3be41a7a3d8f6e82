// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// cp.async: copies from global to shared memory that a warp waits for later.
#include <algorithm>
#include <cstring>

#include "emulator/decode/access.h"
#include "emulator/decode/decoder.h"

namespace emulator {
namespace {

// a: global source, b: shared destination, c: bytes to read (the rest is zero) or -1.
void copy(Warp& w, const Instr& i, std::uint32_t mask) {
  Pointers from;
  Pointers to;
  resolve(w, i, mask, ptx::Space::shared, i.b, i.wide_dst, static_cast<std::int32_t>(i.target),
          i.bytes, to);
  // A lane that reads nothing may hold any address.
  std::uint32_t reads = mask;
  if (i.c != -1) {
    for_lanes(mask, [&](int l) {
      if (lane_of<std::uint32_t>(w, i.c, l) == 0) reads &= ~(1u << l);
    });
  }
  resolve(w, i, reads, ptx::Space::global, i.a, i.wide_address, i.offset, i.bytes, from);
  for_lanes(mask, [&](int l) {
    const auto lane = static_cast<std::size_t>(l);
    AsyncGroup::Copy one{to[lane], i.bytes, {}};
    const std::uint32_t size =
        i.c == -1 ? i.bytes : std::min<std::uint32_t>(i.bytes, lane_of<std::uint32_t>(w, i.c, l));
    if (size > 0) std::memcpy(one.data.data(), from[lane], size);
    w.async_groups.back().copies.push_back(one);
  });
}

void commit(Warp& w, const Instr&, std::uint32_t) { w.async_groups.emplace_back(); }

// Leaves the `offset` newest groups open; of wait_all (-1) nothing.
void wait(Warp& w, const Instr& i, std::uint32_t) {
  const std::size_t all = w.async_groups.size();
  const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(i.offset, 0));
  // The open group is no group yet, except for wait_all.
  const std::size_t ended = i.offset < 0 ? all : all - 1 - std::min(kept, all - 1);
  for (std::size_t g = 0; g < ended; ++g) {
    const AsyncGroup& group = w.async_groups[g];
    for (const AsyncGroup::Copy& one : group.copies) {
      std::memcpy(one.to, one.data.data(), one.bytes);
    }
    w.wait_until = std::max(w.wait_until, group.done);
  }
  w.async_groups.erase(w.async_groups.begin(),
                       w.async_groups.begin() + static_cast<std::ptrdiff_t>(ended));
  if (w.async_groups.empty()) w.async_groups.emplace_back();
}

}  // namespace

void decode_async(Builder& b) {
  Instr& out = b.out;
  if (b.in.has("bulk") || b.in.has("mbarrier")) return decode_bulk(b);
  if (b.in.parts.size() < 2 || b.in.parts[1] != "async") b.unsupported();
  out.op_class = OpClass::move;
  if (b.in.has("commit_group")) {
    out.run = commit;
    return;
  }
  if (b.in.has("wait_group") || b.in.has("wait_all")) {
    out.offset = b.in.has("wait_all") ? -1 : static_cast<std::int64_t>(b.immediate(b.operand(0)));
    out.run = wait;
    return;
  }
  out.op_class = OpClass::async_copy;
  out.cache = b.in.has("cg") ? CacheOp::global : CacheOp::all;
  ptx::Space space = ptx::Space::shared;
  std::int64_t offset = 0;
  out.b = b.address_slot(b.operand(0), offset, out.wide_dst, space);
  out.target = static_cast<std::uint32_t>(offset);
  b.address(b.operand(1));
  out.bytes = static_cast<std::uint8_t>(b.immediate(b.operand(2)));
  if (b.operands() > 3 && !b.wide(b.operand(3))) out.c = b.use(b.operand(3), 4);
  out.run = copy;
}

}  // namespace emulator
