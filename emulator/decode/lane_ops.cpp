// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// shfl vote match redux activemask elect.
#include <algorithm>
#include <array>
#include <cmath>

#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"

namespace emulator {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// Instr::d holds the member mask of the .sync forms. All lanes pass the same one.
bool converged(Warp& w, const Instr& i, U32 mask) {
  return w.converge(i, lane_of<U32>(w, i.d, std::countr_zero(mask)), mask);
}

enum Mode : std::uint8_t { up, down, bfly, idx };

void shfl(Warp& w, const Instr& i, U32 mask) {
  if (!converged(w, i, mask)) return;
  std::array<U32, 32> source;
  for (int l = 0; l < 32; ++l) source[static_cast<std::size_t>(l)] = lane_of<U32>(w, i.a, l);
  U32 in_range = 0;
  for_lanes(mask, [&](int l) {
    const int b = static_cast<int>(lane_of<U32>(w, i.b, l) & 31);
    const U32 c = lane_of<U32>(w, i.c, l);
    const int clamp = static_cast<int>(c & 31);
    const int segment = static_cast<int>(c >> 8 & 31);
    const int highest = (l & segment) | (clamp & ~segment);
    const int lowest = l & segment;
    int from = l;
    bool ok = false;
    switch (i.mode) {
      case up:
        from = l - b;
        ok = from >= highest;
        break;
      case down:
        from = l + b;
        ok = from <= highest;
        break;
      case bfly:
        from = l ^ b;
        ok = from <= highest;
        break;
      default:
        from = lowest | (b & ~segment);
        ok = from <= highest;
        break;
    }
    if (!ok) from = l;
    if (ok) in_range |= 1u << l;
    // A lane outside the mask gives an undefined value: here its register, as on hardware.
    lane_of<U32>(w, i.dst, l) = source[static_cast<std::size_t>(from)];
  });
  if (i.dst2 != -1) set_predicate(w, i.dst2, in_range, mask);
}

enum Vote : std::uint8_t { all, any, uni, ballot };

void vote(Warp& w, const Instr& i, U32 mask) {
  if (!converged(w, i, mask)) return;
  U32 bits = i.a == -1 ? static_cast<U32>(i.offset) : predicate(w, i.a);
  if (i.negated) bits = ~bits;
  bits &= mask;
  if (i.mode == ballot) {
    for_lanes(mask, [&](int l) { lane_of<U32>(w, i.dst, l) = bits; });
    return;
  }
  const bool yes = i.mode == all   ? bits == mask
                   : i.mode == any ? bits != 0
                                   : bits == mask || bits == 0;
  set_predicate(w, i.dst, yes ? all_lanes : 0, mask);
}

template <typename T>
void match(Warp& w, const Instr& i, U32 mask) {
  if (!converged(w, i, mask)) return;
  U32 same_as_first = 0;
  const T first = lane_of<T>(w, i.a, std::countr_zero(mask));
  std::array<U32, 32> result{};
  for_lanes(mask, [&](int l) {
    U32 same = 0;
    for_lanes(mask, [&](int k) {
      if (lane_of<T>(w, i.a, k) == lane_of<T>(w, i.a, l)) same |= 1u << k;
    });
    result[static_cast<std::size_t>(l)] = same;
    if (lane_of<T>(w, i.a, l) == first) same_as_first |= 1u << l;
  });
  const bool everyone = same_as_first == mask;
  for_lanes(mask, [&](int l) {
    lane_of<U32>(w, i.dst, l) =
        i.mode == all ? (everyone ? mask : 0) : result[static_cast<std::size_t>(l)];
  });
  if (i.dst2 != -1) set_predicate(w, i.dst2, everyone ? all_lanes : 0, mask);
}

template <typename T, typename F>
void redux(Warp& w, const Instr& i, U32 mask) {
  if (!converged(w, i, mask)) return;
  T value = lane_of<T>(w, i.a, std::countr_zero(mask));
  for_lanes(mask & (mask - 1), [&](int l) { value = F{}(value, lane_of<T>(w, i.a, l)); });
  for_lanes(mask, [&](int l) { lane_of<T>(w, i.dst, l) = value; });
}
struct RAdd {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<U32>(a) + static_cast<U32>(b));
  }
};
struct RMin {
  template <typename T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct RMax {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
struct RAnd {
  template <typename T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct ROr {
  template <typename T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct RXor {
  template <typename T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};

enum FloatReduction : std::uint8_t { maximum = 1, absolute = 2, nan_wins = 4 };

// The least or greatest of floats; -0 is less than +0. NaNs count only if they win or are all.
void redux_float(Warp& w, const Instr& i, U32 mask) {
  if (!converged(w, i, mask)) return;
  float value = NAN;
  bool any_nan = false;
  for_lanes(mask, [&](int l) {
    float x = lane_of<float>(w, i.a, l);
    if (i.mode & absolute) x = std::fabs(x);
    any_nan = any_nan || std::isnan(x);
    const bool less = x < value || (x == value && std::signbit(x));
    const bool greater = x > value || (x == value && !std::signbit(x));
    if (std::isnan(value) || (i.mode & maximum ? greater : less)) value = x;
  });
  if (std::isnan(value) || (any_nan && (i.mode & nan_wins))) {
    value = std::bit_cast<float>(0x7fffffffu);
  }
  for_lanes(mask, [&](int l) { lane_of<float>(w, i.dst, l) = value; });
}

template <typename F>
Handler redux_of(bool sign) {
  return sign ? redux<std::int32_t, F> : redux<U32, F>;
}

void activemask(Warp& w, const Instr& i, U32 mask) {
  const U32 active = w.active;
  for_lanes(mask, [&](int l) { lane_of<U32>(w, i.dst, l) = active; });
}

void elect(Warp& w, const Instr& i, U32 mask) {
  if (!converged(w, i, mask)) return;
  const int leader = std::countr_zero(mask);
  for_lanes(mask, [&](int l) { lane_of<U32>(w, i.dst, l) = static_cast<U32>(leader); });
  set_predicate(w, i.dst2, 1u << leader, mask);
}

void decode_shfl(Builder& b) {
  Instr& out = b.out;
  if (!b.in.has("sync")) b.unsupported("shfl without .sync");
  out.op_class = OpClass::shuffle;
  out.mode = b.in.has("up") ? up : b.in.has("down") ? down : b.in.has("bfly") ? bfly : idx;
  const ptx::Operand& dst = b.operand(0);
  const bool pair = dst.kind == ptx::OperandKind::pair;
  out.dst = b.def(pair ? dst.parts[0] : dst, 4);
  if (pair) out.dst2 = b.def_predicate(dst.parts[1]);
  out.a = b.use(b.operand(1), 4);
  out.b = b.use(b.operand(2), 4);
  out.c = b.use(b.operand(3), 4);
  out.d = b.use(b.operand(4), 4);
  out.run = shfl;
}

void decode_vote(Builder& b) {
  Instr& out = b.out;
  if (!b.in.has("sync")) b.unsupported("vote without .sync");
  out.mode = b.in.has("ballot") ? ballot : b.in.has("all") ? all : b.in.has("any") ? any : uni;
  out.dst = out.mode == ballot ? b.def(b.operand(0), 4) : b.def_predicate(b.operand(0));
  const ptx::Operand& source = b.operand(1);
  if (source.kind == ptx::OperandKind::integer) {
    out.offset = source.bits != 0 ? 0xffffffff : 0;
  } else {
    out.a = b.use_predicate(source);
    out.negated = source.negated;
  }
  out.d = b.use(b.operand(2), 4);
  out.run = vote;
}

void decode_match(Builder& b) {
  Instr& out = b.out;
  const ptx::Operand& dst = b.operand(0);
  const bool pair = dst.kind == ptx::OperandKind::pair;
  const int bytes = b.in.type().bytes;
  out.mode = b.in.has("all") ? all : any;
  out.dst = b.def(pair ? dst.parts[0] : dst, 4);
  if (pair) out.dst2 = b.def_predicate(dst.parts[1]);
  out.a = b.use(b.operand(1), bytes);
  out.d = b.use(b.operand(2), 4);
  out.run = bytes == 8 ? match<U64> : match<U32>;
}

void decode_redux(Builder& b) {
  Instr& out = b.out;
  const ptx::Type type = b.in.type();
  const bool sign = type.kind == ptx::Kind::signed_int;
  out.dst = b.def(b.operand(0), 4);
  out.a = b.use(b.operand(1), 4);
  out.d = b.use(b.operand(2), 4);
  if (type.kind == ptx::Kind::real) {
    if (b.in.has("max")) out.mode |= maximum;
    if (b.in.has("abs")) out.mode |= absolute;
    if (b.in.has("NaN")) out.mode |= nan_wins;
    out.run = redux_float;
    return;
  }
  if (b.in.has("add")) out.run = redux_of<RAdd>(sign);
  if (b.in.has("min")) out.run = redux_of<RMin>(sign);
  if (b.in.has("max")) out.run = redux_of<RMax>(sign);
  if (b.in.has("and")) out.run = redux_of<RAnd>(false);
  if (b.in.has("or")) out.run = redux_of<ROr>(false);
  if (b.in.has("xor")) out.run = redux_of<RXor>(false);
}

}  // namespace

void decode_lanes(Builder& b) {
  const std::string_view base = b.in.base();
  Instr& out = b.out;
  out.op_class = OpClass::vote;
  if (base == "shfl") return decode_shfl(b);
  if (base == "vote") return decode_vote(b);
  if (base == "match") return decode_match(b);
  if (base == "redux") return decode_redux(b);
  if (base == "activemask") {
    out.dst = b.def(b.operand(0), 4);
    out.run = activemask;
    return;
  }
  const ptx::Operand& dst = b.operand(0);  // elect.sync d|p, mask
  if (dst.kind != ptx::OperandKind::pair) b.unsupported();
  out.dst = b.def(dst.parts[0], 4);
  out.dst2 = b.def_predicate(dst.parts[1]);
  out.d = b.use(b.operand(1), 4);
  out.run = elect;
}

}  // namespace emulator
