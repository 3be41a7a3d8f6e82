// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Products of parts of registers: dp4a dp2a mul24 mad24.
#include <type_traits>

#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"

namespace emulator {
namespace {

using U32 = std::uint32_t;

// dp4a d, a, b, c: c + the sum of products of bytes. A and B are the bytes' types.
template <typename A, typename B>
void dp4a(Warp& w, const Instr& i, U32 mask) {
  map3<U32, U32, U32, U32>(w, i, mask, [](U32 a, U32 b, U32 c) {
    for (int byte = 0; byte < 32; byte += 8) {
      c += static_cast<U32>(static_cast<A>(a >> byte) * static_cast<B>(b >> byte));
    }
    return c;
  });
}

// dp2a: of the halves of a with two bytes of b, the upper ones if Instr::mode is 1.
template <typename A, typename B>
void dp2a(Warp& w, const Instr& i, U32 mask) {
  using Half = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
  const int shift = 16 * i.mode;
  map3<U32, U32, U32, U32>(w, i, mask, [shift](U32 a, U32 b, U32 c) {
    b >>= shift;
    for (int n = 0; n < 2; ++n) {
      c += static_cast<U32>(static_cast<Half>(a >> (16 * n)) * static_cast<B>(b >> (8 * n)));
    }
    return c;
  });
}

// The low 24 bits of both operands; bits 0 to 31 or 16 to 47 of their product, plus c.
template <typename T, bool high>
struct Mad24 {
  U32 operator()(U32 a, U32 b, U32 c) const {
    const auto part = [](U32 x) { return std::int64_t{static_cast<T>(x << 8) >> 8}; };
    return static_cast<U32>((part(a) * part(b)) >> (high ? 16 : 0)) + c;
  }
};
template <typename T, bool high>
struct Mul24 {
  U32 operator()(U32 a, U32 b) const { return Mad24<T, high>{}(a, b, 0); }
};

template <typename T, bool high>
Handler product24(bool adds) {
  return adds ? ternary<Mad24<T, high>, U32> : binary<Mul24<T, high>, U32>;
}

}  // namespace

void decode_dot(Builder& b) {
  const std::string_view base = b.in.base();
  Instr& out = b.out;
  out.op_class = OpClass::imad;
  b.standard(ptx::find_type("b32"));
  if (b.in.has("sat")) b.unsupported();
  if (base == "mul24" || base == "mad24") {
    const bool adds = base == "mad24";
    const bool high = b.in.has("hi");
    if (b.in.type().kind == ptx::Kind::signed_int) {
      out.run = high ? product24<std::int32_t, true>(adds) : product24<std::int32_t, false>(adds);
    } else {
      out.run = high ? product24<U32, true>(adds) : product24<U32, false>(adds);
    }
    return;
  }
  using S = std::int8_t;
  using U = std::uint8_t;
  const bool sa = b.in.type(1).kind == ptx::Kind::signed_int;
  const bool sb = b.in.type().kind == ptx::Kind::signed_int;
  if (base == "dp4a") {
    out.run = sa ? (sb ? dp4a<S, S> : dp4a<S, U>) : (sb ? dp4a<U, S> : dp4a<U, U>);
  } else {
    out.mode = b.in.has("hi") ? 1 : 0;
    out.run = sa ? (sb ? dp2a<S, S> : dp2a<S, U>) : (sb ? dp2a<U, S> : dp2a<U, U>);
  }
}

}  // namespace emulator
