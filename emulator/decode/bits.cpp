// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// and or xor not cnot shl shr lop3 shf prmt bfe bfi brev clz popc bfind szext bmsk; carries.
#include <algorithm>
#include <bit>

#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"

namespace emulator {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I16 = std::int16_t;
using I32 = std::int32_t;
using I64 = std::int64_t;

struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <typename T>
  T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};
// Shifts clamp: by the width or more leaves only zeros or signs.
struct Shl {
  template <typename T>
  T operator()(T a, U32 n) const {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << n);
  }
};
struct Shr {
  template <typename T>
  T operator()(T a, U32 n) const {
    constexpr U32 width = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> std::min(n, width - 1));
    return n >= width ? T{0} : static_cast<T>(a >> n);
  }
};
struct Popc {
  template <typename T>
  U32 operator()(T a) const {
    return static_cast<U32>(std::popcount(a));
  }
};
struct Clz {
  template <typename T>
  U32 operator()(T a) const {
    return static_cast<U32>(std::countl_zero(a));
  }
};
struct Brev {
  template <typename T>
  T operator()(T a) const {
    T r = 0;
    for (std::size_t i = 0; i < 8 * sizeof(T); ++i) r = static_cast<T>((r << 1) | ((a >> i) & 1));
    return r;
  }
};
template <bool shift_amount>
struct Bfind {
  template <typename T>
  U32 operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    const U u = a < 0 ? static_cast<U>(~a) : static_cast<U>(a);
    if (u == 0) return 0xffffffffu;
    const U32 lead = static_cast<U32>(std::countl_zero(u));
    return shift_amount ? lead : static_cast<U32>(8 * sizeof(T)) - 1 - lead;
  }
};
struct Bfe {
  template <typename T>
  T operator()(T a, U32 start, U32 length) const {
    using U = std::make_unsigned_t<T>;
    constexpr U32 width = 8 * sizeof(T);
    start &= 0xff;
    length = std::min(length & 0xff, 256u);
    if (length == 0) return 0;
    U field = start >= width ? U{0} : static_cast<U>(static_cast<U>(a) >> start);
    const bool sign = std::is_signed_v<T> &&
                      ((static_cast<U>(a) >> std::min(start + length - 1, width - 1)) & 1) != 0;
    // Bits past the top of the operand are sign bits too.
    const U32 valid = start >= width ? 0 : std::min(length, width - start);
    const U mask = valid >= width ? ~U{0} : static_cast<U>((U{1} << valid) - 1);
    field &= mask;
    if (sign) field |= static_cast<U>(~mask);
    return static_cast<T>(field);
  }
};
template <typename T>
T bfi(T a, T b, U32 start, U32 length) {
  constexpr U32 width = 8 * sizeof(T);
  start &= 0xff;
  length &= 0xff;
  if (start >= width || length == 0) return b;
  const T ones = length >= width ? ~T{0} : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << start);
  return static_cast<T>((b & ~mask) | ((a << start) & mask));
}
template <typename T>
void run_bfi(Warp& w, const Instr& i, U32 mask) {
  for_lanes(mask, [&](int l) {
    lane_of<T>(w, i.dst, l) = bfi<T>(lane_of<T>(w, i.a, l), lane_of<T>(w, i.b, l),
                                     lane_of<U32>(w, i.c, l), lane_of<U32>(w, i.d, l));
  });
}
void lop3(Warp& w, const Instr& i, U32 mask) {
  const U32 table = i.mode;
  map3<U32, U32, U32, U32>(w, i, mask, [table](U32 a, U32 b, U32 c) {
    U32 r = 0;
    for (U32 term = 0; term < 8; ++term) {
      if ((table >> term & 1) == 0) continue;
      r |= (term & 4 ? a : ~a) & (term & 2 ? b : ~b) & (term & 1 ? c : ~c);
    }
    return r;
  });
}
template <bool left, bool wraps>
struct Shf {
  U32 operator()(U32 lo, U32 hi, U32 n) const {
    n = wraps ? n & 31 : std::min(n, 32u);
    const U64 both = U64{hi} << 32 | lo;
    return static_cast<U32>(left ? (both << n) >> 32 : both >> n);
  }
};
struct Prmt {
  U32 operator()(U32 a, U32 b, U32 selector) const {
    const U64 bytes = U64{b} << 32 | a;
    U32 r = 0;
    for (U32 i = 0; i < 4; ++i) {
      const U32 control = selector >> (4 * i);
      U32 byte = static_cast<U32>(bytes >> (8 * (control & 7))) & 0xff;
      if (control & 8) byte = byte & 0x80 ? 0xff : 0;
      r |= byte << (8 * i);
    }
    return r;
  }
};
// Fixed patterns by the low two bits of c.
constexpr std::string_view prmt_modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
constexpr U32 prmt_patterns[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
    {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
    {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
void prmt_pattern(Warp& w, const Instr& i, U32 mask) {
  const auto& row = prmt_patterns[i.mode];
  map3<U32, U32, U32, U32>(w, i, mask,
                           [&row](U32 a, U32 b, U32 c) { return Prmt{}(a, b, row[c & 3]); });
}

template <typename F>
Handler logic(int bytes) {
  return bytes == 2   ? binary<F, U16>
         : bytes == 4 ? binary<F, U32>
         : bytes == 8 ? binary<F, U64>
                      : nullptr;
}
template <typename F>
Handler invert(int bytes) {
  return bytes == 2 ? unary<F, U16> : bytes == 4 ? unary<F, U32> : unary<F, U64>;
}
template <typename F>
void predicates(Warp& w, const Instr& i, U32 mask) {
  set_predicate(w, i.dst, F{}(predicate(w, i.a), predicate(w, i.b)), mask);
}
void not_predicate(Warp& w, const Instr& i, U32 mask) {
  set_predicate(w, i.dst, ~predicate(w, i.a), mask);
}

void decode_predicates(Builder& b) {
  const std::string_view base = b.in.base();
  b.out.dst = b.def_predicate(b.operand(0));
  b.out.a = b.use_predicate(b.operand(1));
  if (base != "not") b.out.b = b.use_predicate(b.operand(2));
  b.out.run = base == "and"   ? predicates<And>
              : base == "or"  ? predicates<Or>
              : base == "xor" ? predicates<Xor>
                              : not_predicate;
}

}  // namespace

void decode_bits(Builder& b) {
  const std::string_view base = b.in.base();
  const ptx::Type type = b.in.type();
  const int n = type.bytes;
  const bool sign = type.kind == ptx::Kind::signed_int;
  Instr& out = b.out;
  if (type.kind == ptx::Kind::pred) return decode_predicates(b);
  if (base == "lop3") {
    b.standard(type);
    out.mode = static_cast<std::uint8_t>(b.immediate(b.operand(4)));
    out.run = lop3;
    if (b.in.has("BOOL") || b.in.operands.size() > 5) b.unsupported();
    return;
  }
  out.dst = b.def(b.operand(0), base == "popc" || base == "clz" || base == "bfind" ? 4 : n);
  out.a = b.use(b.operand(1), type);
  if (base == "and") out.run = logic<And>(n);
  if (base == "or") out.run = logic<Or>(n);
  if (base == "xor") out.run = logic<Xor>(n);
  if (base == "and" || base == "or" || base == "xor") out.b = b.use(b.operand(2), type);
  if (base == "not") out.run = invert<Not>(n);
  if (base == "cnot") out.run = invert<Cnot>(n);
  if (base == "brev") out.run = n == 4 ? unary<Brev, U32> : unary<Brev, U64>;
  if (base == "popc") out.run = n == 4 ? unary<Popc, U32> : unary<Popc, U32, U64>;
  if (base == "clz") out.run = n == 4 ? unary<Clz, U32> : unary<Clz, U32, U64>;
  if (base == "popc" || base == "brev" || base == "bfind") out.op_class = OpClass::convert;
  if (base == "bfind") {
    const bool shift = b.in.has("shiftamt");
    if (sign) {
      out.run = n == 4 ? (shift ? unary<Bfind<true>, U32, I32> : unary<Bfind<false>, U32, I32>)
                       : (shift ? unary<Bfind<true>, U32, I64> : unary<Bfind<false>, U32, I64>);
    } else {
      out.run = n == 4 ? (shift ? unary<Bfind<true>, U32, U32> : unary<Bfind<false>, U32, U32>)
                       : (shift ? unary<Bfind<true>, U32, U64> : unary<Bfind<false>, U32, U64>);
    }
  }
  if (base == "shl" || base == "shr") {
    out.b = b.use(b.operand(2), 4);
    if (base == "shl")
      out.run = n == 2   ? binary<Shl, U16, U16, U32>
                : n == 4 ? binary<Shl, U32>
                         : binary<Shl, U64, U64, U32>;
    else if (sign)
      out.run = n == 2   ? binary<Shr, I16, I16, U32>
                : n == 4 ? binary<Shr, I32, I32, U32>
                         : binary<Shr, I64, I64, U32>;
    else
      out.run = n == 2   ? binary<Shr, U16, U16, U32>
                : n == 4 ? binary<Shr, U32>
                         : binary<Shr, U64, U64, U32>;
  }
  if (base == "bfe") {
    out.b = b.use(b.operand(2), 4);
    out.c = b.use(b.operand(3), 4);
    if (sign)
      out.run = n == 4 ? ternary<Bfe, I32, I32, U32, U32> : ternary<Bfe, I64, I64, U32, U32>;
    else
      out.run = n == 4 ? ternary<Bfe, U32, U32, U32, U32> : ternary<Bfe, U64, U64, U32, U32>;
  }
  if (base == "bfi") {
    out.b = b.use(b.operand(2), type);
    out.c = b.use(b.operand(3), 4);
    out.d = b.use(b.operand(4), 4);
    out.run = n == 4 ? run_bfi<U32> : run_bfi<U64>;
  }
  if (base == "shf") {
    out.b = b.use(b.operand(2), 4);
    out.c = b.use(b.operand(3), 4);
    const bool wraps = b.in.has("wrap");
    out.run = b.in.has("l")
                  ? (wraps ? ternary<Shf<true, true>, U32> : ternary<Shf<true, false>, U32>)
                  : (wraps ? ternary<Shf<false, true>, U32> : ternary<Shf<false, false>, U32>);
  }
  if (base == "prmt") {
    out.b = b.use(b.operand(2), 4);
    out.c = b.use(b.operand(3), 4);
    out.run = ternary<Prmt, U32>;
    for (std::uint8_t m = 0; m < std::size(prmt_modes); ++m) {
      if (b.in.parts.back() != prmt_modes[m]) continue;
      out.mode = m;
      out.run = prmt_pattern;
    }
  }
  if (out.run == nullptr) b.unsupported();
}

}  // namespace emulator
