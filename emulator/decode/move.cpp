// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// mov cvta isspacep, clocks, and packing and unpacking of vectors.
#include "emulator/decode/control.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"
#include "emulator/machine/address.h"
#include "emulator/machine/block.h"
#include "emulator/machine/device.h"

namespace emulator {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <typename T>
void move(Warp& w, const Instr& i, U32 mask) {
  map1<T, T>(w, i, mask, [](T a) { return a; });
}
// Compilers copy accumulators whose sums are still on their way; the copy waits for them too.
void move_accumulator(Warp& w, const Instr& i, U32 mask) {
  move<U32>(w, i, mask);
  w.matrix_results.copy(i.dst, i.a);
}
void move_predicate(Warp& w, const Instr& i, U32 mask) {
  set_predicate(w, i.dst, predicate(w, i.a), mask);
}
void constant_predicate(Warp& w, const Instr& i, U32 mask) {
  set_predicate(w, i.dst, i.offset != 0 ? all_lanes : 0, mask);
}

void read_clock(Warp& w, const Instr& i, U32 mask) {
  const Device& device = *w.block().grid().device;
  U64 value = 0;
  switch (static_cast<Special>(i.mode)) {
    case Special::clock:
    case Special::clock64:
      value = device.sm_clock(w.block().sm(), w.now);
      break;
    case Special::clock_hi:
      value = device.sm_clock(w.block().sm(), w.now) >> 32;
      break;
    case Special::globaltimer_hi:
      value = device.global_timer(w.now) >> 32;
      break;
    default:
      value = device.global_timer(w.now);
      break;
  }
  for_lanes(mask, [&](int l) {
    if (i.wide_dst) {
      lane_of<U64>(w, i.dst, l) = value;
    } else {
      lane_of<U32>(w, i.dst, l) = static_cast<U32>(value);
    }
  });
}

// Vectors: elements of i.bytes at Program::extra, one register of count * bytes.
template <typename Whole, typename Part>
void pack(Warp& w, const Instr& i, U32 mask) {
  const std::int32_t* parts = &w.program().extra[i.extra];
  for_lanes(mask, [&](int l) {
    Whole value = 0;
    for (int n = 0; n < i.count; ++n) {
      value |= static_cast<Whole>(static_cast<Whole>(lane_of<Part>(w, parts[n], l))
                                  << (8 * sizeof(Part) * static_cast<unsigned>(n)));
    }
    lane_of<Whole>(w, i.dst, l) = value;
  });
}
template <typename Whole, typename Part>
void unpack(Warp& w, const Instr& i, U32 mask) {
  const std::int32_t* parts = &w.program().extra[i.extra];
  for_lanes(mask, [&](int l) {
    const Whole value = lane_of<Whole>(w, i.a, l);
    for (int n = 0; n < i.count; ++n) {
      lane_of<Part>(w, parts[n], l) =
          static_cast<Part>(value >> (8 * sizeof(Part) * static_cast<unsigned>(n)));
    }
  });
}

void decode_vector(Builder& b, ptx::Type type, bool packs) {
  const ptx::Operand& vector = b.operand(packs ? 1 : 0);
  const auto count = static_cast<int>(vector.parts.size());
  if (count == 0 || type.bytes % count != 0) b.unsupported("vector size");
  const int part = type.bytes / count;
  Instr& out = b.out;
  out.count = static_cast<std::uint8_t>(count);
  std::vector<std::int32_t> places;
  for (const ptx::Operand& element : vector.parts) {
    places.push_back(packs ? b.use(element, part) : b.def(element, part));
  }
  out.extra = b.extra(places);
  if (packs)
    out.dst = b.def(b.operand(0), type.bytes);
  else
    out.a = b.use(b.operand(1), type);
  if (type.bytes == 16 && part == 8) out.run = packs ? pack<U128, U64> : unpack<U128, U64>;
  if (type.bytes == 8 && part == 4) out.run = packs ? pack<U64, U32> : unpack<U64, U32>;
  if (type.bytes == 8 && part == 2) out.run = packs ? pack<U64, U16> : unpack<U64, U16>;
  if (type.bytes == 4 && part == 2) out.run = packs ? pack<U32, U16> : unpack<U32, U16>;
  if (type.bytes == 4 && part == 1)
    out.run = packs ? pack<U32, std::uint8_t> : unpack<U32, std::uint8_t>;
  if (type.bytes == 2 && part == 1)
    out.run = packs ? pack<U16, std::uint8_t> : unpack<U16, std::uint8_t>;
  if (out.run == nullptr) b.unsupported();
}

void decode_mov(Builder& b) {
  const ptx::Type type = b.in.type();
  Instr& out = b.out;
  const ptx::Operand& source = b.operand(1);
  if (source.kind == ptx::OperandKind::vector) return decode_vector(b, type, true);
  if (b.operand(0).kind == ptx::OperandKind::vector) return decode_vector(b, type, false);
  if (type.kind == ptx::Kind::pred) {
    out.dst = b.def_predicate(b.operand(0));
    if (source.kind == ptx::OperandKind::integer) {
      out.offset = source.bits != 0;
      out.run = constant_predicate;
    } else {
      out.a = b.use_predicate(source);
      out.run = move_predicate;
    }
    return;
  }
  out.dst = b.def(b.operand(0), type.bytes);
  if (source.kind == ptx::OperandKind::special) {
    const Special special = find_special(source.name);
    if (special >= Special::clock && special != Special::none) {
      out.mode = static_cast<std::uint8_t>(special);
      out.wide_dst = type.bytes == 8;
      out.op_class = OpClass::clock;
      out.run = read_clock;
      return;
    }
  }
  out.a = b.use(source, type);
  out.run = type.bytes == 16  ? move<U128>
            : type.bytes == 8 ? move<U64>
            : type.bytes == 4 ? move<U32>
                              : move<U16>;
  if (type.bytes == 4 && b.has_wgmma() && b.is_register(source)) out.run = move_accumulator;
}

U64 window_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::shared:
      return shared_window;
    case ptx::Space::local:
      return local_window;
    case ptx::Space::param:
      return param_window;
    default:
      return 0;
  }
}

void to_generic(Warp& w, const Instr& i, U32 mask) {
  const U64 window = static_cast<U64>(i.offset);
  if (i.wide_src)
    map1<U64, U64>(w, i, mask, [window](U64 a) { return a | window; });
  else
    map1<U64, U32>(w, i, mask, [window](U32 a) { return a | window; });
}
void from_generic(Warp& w, const Instr& i, U32 mask) {
  map1<U64, U64>(w, i, mask, [](U64 a) { return a & ~window_mask; });
}

ptx::Space space_of(Builder& b) {
  for (const std::string_view part : b.in.parts) {
    if (part.starts_with("shared")) return ptx::Space::shared;
    if (part == "global") return ptx::Space::global;
    if (part == "const") return ptx::Space::constant;
    if (part == "local") return ptx::Space::local;
    if (part.starts_with("param")) return ptx::Space::param;
  }
  b.unsupported();
}

void is_space(Warp& w, const Instr& i, U32 mask) {
  U32 bits = 0;
  for_lanes(mask, [&](int l) {
    const U64 a = lane_of<U64>(w, i.a, l);
    if ((a & window_mask) == static_cast<U64>(i.offset)) bits |= 1u << l;
  });
  set_predicate(w, i.dst, bits, mask);
}

// mapa: the address of the same variable in the block of rank b. getctarank: the rank of an
// address.
template <typename T>
void map_address(Warp& w, const Instr& i, U32 mask) {
  for_lanes(mask, [&](int l) {
    const U64 kept = lane_of<T>(w, i.a, l) & ~(U64{0xffffffff} & ~U64{0xffffff});
    lane_of<T>(w, i.dst, l) = static_cast<T>(kept | (U64{lane_of<U32>(w, i.b, l)} + 1) << 24);
  });
}
template <typename T>
void rank_of_address(Warp& w, const Instr& i, U32 mask) {
  for_lanes(mask, [&](int l) {
    const U32 selector = static_cast<U32>(lane_of<T>(w, i.a, l)) >> 24;
    lane_of<U32>(w, i.dst, l) = selector == 0 ? w.block().rank() : selector - 1;
  });
}

void decode_cluster_address(Builder& b) {
  Instr& out = b.out;
  const bool wide = b.in.type().bytes == 8;
  const bool maps = b.in.base() == "mapa";
  out.dst = b.def(b.operand(0), maps && wide ? 8 : 4);
  out.a = b.use(b.operand(1), wide ? 8 : 4);
  if (maps) out.b = b.use(b.operand(2), 4);
  out.op_class = OpClass::alu;
  out.run = maps ? (wide ? map_address<U64> : map_address<U32>)
                 : (wide ? rank_of_address<U64> : rank_of_address<U32>);
}

}  // namespace

void decode_move(Builder& b) {
  Instr& out = b.out;
  out.op_class = OpClass::move;
  if (b.in.base() == "mov") return decode_mov(b);
  if (b.in.base() == "mapa" || b.in.base() == "getctarank") return decode_cluster_address(b);
  const ptx::Space space = space_of(b);
  out.offset = static_cast<std::int64_t>(window_of(space));
  if (b.in.base() == "isspacep") {
    out.dst = b.def_predicate(b.operand(0));
    out.a = b.use(b.operand(1), 8);
    out.run = is_space;
    return;
  }
  out.dst = b.def(b.operand(0), 8);
  out.a = b.use(b.operand(1), 8);
  out.wide_src = b.wide(b.operand(1)) || !b.is_register(b.operand(1));
  out.run = b.in.has("to") ? from_generic : to_generic;
  // An operand such as `cvta.shared.u64 %rd, sym` is a constant; of a register, nothing changes for
  // global memory.
  if (out.offset == 0) out.run = move<U64>;
}

}  // namespace emulator
