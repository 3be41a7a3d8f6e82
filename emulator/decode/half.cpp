// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// f16, bf16 and their pairs: add sub mul fma min max abs neg ex2 tanh.
#include <cmath>

#include "emulator/decode/decoder.h"
#include "emulator/decode/formats.h"
#include "emulator/decode/lanes.h"

namespace emulator {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;

struct F16 {
  static constexpr U16 nan = 0x7fff;
  static float load(U16 x) { return f16_to_float(x); }
  static U16 store(float x) { return float_to_f16(x); }
  static U16 round(double x) { return static_cast<U16>(encode<format_f16>(x)); }
  static bool is_subnormal(U16 x) { return (x & 0x7c00) == 0; }
};
struct Bf16 {
  static constexpr U16 nan = 0x7fff;
  static float load(U16 x) { return bf16_to_float(x); }
  static U16 store(float x) { return float_to_bf16(x); }
  static U16 round(double x) { return static_cast<U16>(encode<format_bf16>(x)); }
  static bool is_subnormal(U16 x) { return (x & 0x7f80) == 0; }
};

// Sums and products of two halves are exact in a double up to what rounding to odd keeps.
template <typename H>
struct Add {
  U16 operator()(U16 a, U16 b, U16) const {
    return H::round(fma_to_odd(H::load(a), 1, H::load(b)));
  }
};
template <typename H>
struct Sub {
  U16 operator()(U16 a, U16 b, U16) const {
    return H::round(fma_to_odd(H::load(a), 1, -H::load(b)));
  }
};
template <typename H>
struct Mul {
  U16 operator()(U16 a, U16 b, U16) const {
    return H::round(static_cast<double>(H::load(a)) * H::load(b));
  }
};
template <typename H>
struct Fma {
  U16 operator()(U16 a, U16 b, U16 c) const {
    return H::round(fma_to_odd(H::load(a), H::load(b), H::load(c)));
  }
};
template <typename H>
struct FmaRelu {
  U16 operator()(U16 a, U16 b, U16 c) const {
    const U16 r = Fma<H>{}(a, b, c);
    return (r & 0x8000) != 0 && r != 0xffff ? 0 : r;
  }
};
template <typename H, bool maximum>
U16 extreme(U16 a, U16 b) {
  const float x = H::load(a);
  const float y = H::load(b);
  if (std::isnan(x)) return std::isnan(y) ? H::nan : b;
  if (std::isnan(y)) return a;
  if (x == y) return std::signbit(x) == maximum ? b : a;
  return (x < y) == maximum ? b : a;
}
template <typename H>
struct Min {
  U16 operator()(U16 a, U16 b, U16) const { return extreme<H, false>(a, b); }
};
template <typename H>
struct Max {
  U16 operator()(U16 a, U16 b, U16) const { return extreme<H, true>(a, b); }
};
template <typename H, bool maximum>
struct ExtremeNan {
  U16 operator()(U16 a, U16 b, U16) const {
    return std::isnan(H::load(a)) || std::isnan(H::load(b)) ? H::nan : extreme<H, maximum>(a, b);
  }
};
template <typename H>
struct MinNan : ExtremeNan<H, false> {};
template <typename H>
struct MaxNan : ExtremeNan<H, true> {};
template <typename H>
struct Abs {
  U16 operator()(U16 a, U16, U16) const { return a & 0x7fff; }
};
template <typename H>
struct Neg {
  U16 operator()(U16 a, U16, U16) const { return a ^ 0x8000; }
};
template <typename H>
struct Ex2 {
  U16 operator()(U16 a, U16, U16) const {
    return H::round(std::exp2(static_cast<double>(H::load(a))));
  }
};
template <typename H>
struct Tanh {
  U16 operator()(U16 a, U16, U16) const {
    return H::round(std::tanh(static_cast<double>(H::load(a))));
  }
};

constexpr std::uint8_t mode_flush = 1;
constexpr std::uint8_t mode_saturate = 2;
constexpr std::uint8_t mode_xorsign = 4;  // of min and max: magnitudes, and the product's sign

template <typename H, typename F>
U16 apply(U16 a, U16 b, U16 c, std::uint8_t mode) {
  const auto flushed = [mode](U16 x) {
    return (mode & mode_flush) && H::is_subnormal(x) ? static_cast<U16>(x & 0x8000) : x;
  };
  a = flushed(a);
  b = flushed(b);
  const auto sign = static_cast<U16>((a ^ b) & 0x8000);
  if (mode & mode_xorsign) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  U16 r = flushed(F{}(a, b, flushed(c)));
  if ((mode & mode_xorsign) && r != H::nan) r |= sign;
  if (mode & mode_saturate) {
    const float x = H::load(r);
    r = x > 0 ? (x < 1 ? r : H::store(1)) : U16{0};
  }
  return r;
}

template <typename H, typename F>
void scalar(Warp& w, const Instr& i, U32 mask) {
  for_lanes(mask, [&](int l) {
    const U16 b = i.b == -1 ? U16{0} : lane_of<U16>(w, i.b, l);
    const U16 c = i.c == -1 ? U16{0} : lane_of<U16>(w, i.c, l);
    lane_of<U16>(w, i.dst, l) = apply<H, F>(lane_of<U16>(w, i.a, l), b, c, i.mode);
  });
}

template <typename H, typename F>
void packed(Warp& w, const Instr& i, U32 mask) {
  for_lanes(mask, [&](int l) {
    const U32 a = lane_of<U32>(w, i.a, l);
    const U32 b = i.b == -1 ? 0 : lane_of<U32>(w, i.b, l);
    const U32 c = i.c == -1 ? 0 : lane_of<U32>(w, i.c, l);
    const U32 lo =
        apply<H, F>(static_cast<U16>(a), static_cast<U16>(b), static_cast<U16>(c), i.mode);
    const U32 hi = apply<H, F>(static_cast<U16>(a >> 16), static_cast<U16>(b >> 16),
                               static_cast<U16>(c >> 16), i.mode);
    lane_of<U32>(w, i.dst, l) = hi << 16 | lo;
  });
}

template <template <typename> class F>
Handler choose(std::string_view type) {
  if (type == "f16") return scalar<F16, F<F16>>;
  if (type == "bf16") return scalar<Bf16, F<Bf16>>;
  if (type == "f16x2") return packed<F16, F<F16>>;
  return packed<Bf16, F<Bf16>>;
}

}  // namespace

void decode_half(Builder& b) {
  const std::string_view base = b.in.base();
  const ptx::Type type = b.in.type();
  Instr& out = b.out;
  out.op_class = OpClass::fp16;
  if (b.in.has("ftz")) out.mode |= mode_flush;
  if (b.in.has("sat")) out.mode |= mode_saturate;
  if (b.in.has("xorsign")) out.mode |= mode_xorsign;
  b.standard(type);
  const bool nan = b.in.has("NaN");
  if (b.in.has("oob")) b.unsupported();
  if (base == "add") out.run = choose<Add>(type.name);
  if (base == "sub") out.run = choose<Sub>(type.name);
  if (base == "mul") out.run = choose<Mul>(type.name);
  if (base == "fma")
    out.run = b.in.has("relu") ? choose<FmaRelu>(type.name) : choose<Fma>(type.name);
  if (base == "min") out.run = nan ? choose<MinNan>(type.name) : choose<Min>(type.name);
  if (base == "max") out.run = nan ? choose<MaxNan>(type.name) : choose<Max>(type.name);
  if (base == "abs") out.run = choose<Abs>(type.name);
  if (base == "neg") out.run = choose<Neg>(type.name);
  if (base == "ex2" || base == "tanh") {
    out.op_class = OpClass::special_function;
    out.run = base == "ex2" ? choose<Ex2>(type.name) : choose<Tanh>(type.name);
  }
  if (out.run == nullptr) b.unsupported();
}

}  // namespace emulator
