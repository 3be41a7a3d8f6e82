// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// f32 and f64: add sub mul fma mad div rcp sqrt rsqrt abs neg min max ex2 lg2 sin cos tanh
// copysign.
#include <cmath>

#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"
#include "emulator/decode/rounding.h"

namespace emulator {
namespace {

template <typename T>
T saturate(T x) {
  return x > 0 ? (x < 1 ? x : T{1}) : T{0};
}  // NaN gives 0

struct Add {
  template <typename T>
  static T of(T a, T b, T) {
    return a + b;
  }
};
struct Sub {
  template <typename T>
  static T of(T a, T b, T) {
    return a - b;
  }
};
struct Mul {
  template <typename T>
  static T of(T a, T b, T) {
    return a * b;
  }
};
struct Fma {
  template <typename T>
  static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Div {
  template <typename T>
  static T of(T a, T b, T) {
    return a / b;
  }
};
struct Rcp {
  template <typename T>
  static T of(T a, T, T) {
    return T{1} / a;
  }
};
struct Sqrt {
  template <typename T>
  static T of(T a, T, T) {
    return std::sqrt(a);
  }
};
// Approximations are computed in double and rounded: at least as close as the hardware's.
struct Rsqrt {
  template <typename T>
  static T of(T a, T, T) {
    return static_cast<T>(1 / std::sqrt(static_cast<double>(a)));
  }
};
struct Ex2 {
  template <typename T>
  static T of(T a, T, T) {
    return static_cast<T>(std::exp2(static_cast<double>(a)));
  }
};
struct Lg2 {
  template <typename T>
  static T of(T a, T, T) {
    return static_cast<T>(std::log2(static_cast<double>(a)));
  }
};
struct Sin {
  template <typename T>
  static T of(T a, T, T) {
    return static_cast<T>(std::sin(static_cast<double>(a)));
  }
};
struct Cos {
  template <typename T>
  static T of(T a, T, T) {
    return static_cast<T>(std::cos(static_cast<double>(a)));
  }
};
struct Tanh {
  template <typename T>
  static T of(T a, T, T) {
    return static_cast<T>(std::tanh(static_cast<double>(a)));
  }
};

template <typename T>
T lesser(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;  // -0 is less than +0
  return a < b ? a : b;
}
template <typename T>
T greater(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <typename F, typename T, int sources>
void plain(Warp& w, const Instr& i, std::uint32_t mask) {
  if constexpr (sources == 1) map1<T, T>(w, i, mask, [](T a) { return quiet(F::of(a, T{}, T{})); });
  if constexpr (sources == 2)
    map2<T, T, T>(w, i, mask, [](T a, T b) { return quiet(F::of(a, b, T{})); });
  if constexpr (sources == 3)
    map3<T, T, T, T>(w, i, mask, [](T a, T b, T c) { return quiet(F::of(a, b, c)); });
}

template <typename F, typename T, int sources>
void general(Warp& w, const Instr& i, std::uint32_t mask) {
  const RoundingScope scope(i.mode);
  for_lanes(mask, [&](int l) {
    T a = lane_of<T>(w, i.a, l);
    T b = sources > 1 ? lane_of<T>(w, i.b, l) : T{};
    T c = sources > 2 ? lane_of<T>(w, i.c, l) : T{};
    if (i.mode & mode_flush) {
      a = flush(a);
      b = flush(b);
      c = flush(c);
    }
    T r = quiet(F::of(a, b, c));
    if (i.mode & mode_flush) r = flush(r);
    if (i.mode & mode_saturate) r = saturate(r);
    lane_of<T>(w, i.dst, l) = r;
  });
}

template <typename F, int sources>
Handler choose(ptx::Type type, std::uint8_t mode) {
  if (mode == 0) return type.bytes == 4 ? plain<F, float, sources> : plain<F, double, sources>;
  return type.bytes == 4 ? general<F, float, sources> : general<F, double, sources>;
}

template <typename T, bool maximum>
void extreme(Warp& w, const Instr& i, std::uint32_t mask) {
  for_lanes(mask, [&](int l) {
    T a = lane_of<T>(w, i.a, l);
    T b = lane_of<T>(w, i.b, l);
    if (i.mode & mode_flush) {
      a = flush(a);
      b = flush(b);
    }
    const bool sign = std::signbit(a) != std::signbit(b);
    if (i.mode & mode_xorsign) {
      a = std::fabs(a);
      b = std::fabs(b);
    }
    T r = maximum ? greater(a, b) : lesser(a, b);
    if ((i.mode & mode_nan) && (std::isnan(a) || std::isnan(b))) r = static_cast<T>(NAN);
    if (i.mode & mode_xorsign) r = std::copysign(r, sign ? T{-1} : T{1});
    lane_of<T>(w, i.dst, l) = quiet(r);
  });
}

template <typename T, typename U, U keep, U flip>
void sign_bits(Warp& w, const Instr& i, std::uint32_t mask) {
  for_lanes(mask, [&](int l) {
    T a = lane_of<T>(w, i.a, l);
    if (i.mode & mode_flush) a = flush(a);
    lane_of<U>(w, i.dst, l) = (std::bit_cast<U>(a) & keep) ^ flip;
  });
}

template <typename T>
void copy_sign(Warp& w, const Instr& i, std::uint32_t mask) {  // copysign d, a, b: sign of a on b
  map2<T, T, T>(w, i, mask, [](T a, T b) { return std::copysign(b, a); });
}

template <typename T>
void test_property(Warp& w, const Instr& i, std::uint32_t mask) {
  std::uint32_t bits = 0;
  for_lanes(mask, [&](int l) {
    const T a = lane_of<T>(w, i.a, l);
    const int kind = std::fpclassify(a);
    const bool yes[] = {std::isfinite(a), std::isinf(a),     !std::isnan(a),
                        std::isnan(a),    kind == FP_NORMAL, kind == FP_SUBNORMAL};
    if (yes[i.mode]) bits |= 1u << l;
  });
  set_predicate(w, i.dst, bits, mask);
}

}  // namespace

void decode_float(Builder& b) {
  const std::string_view base = b.in.base();
  const ptx::Type type = b.in.type();
  Instr& out = b.out;
  const bool f32 = type.bytes == 4;
  out.mode = rounding_mode(b.in);
  out.op_class = f32 ? OpClass::fp32 : OpClass::fp64;
  if (base == "testp") {
    static constexpr std::string_view names[] = {"finite",     "infinite", "number",
                                                 "notanumber", "normal",   "subnormal"};
    for (std::uint8_t n = 0; n < 6; ++n)
      if (b.in.has(names[n])) out.mode = n;
    out.dst = b.def_predicate(b.operand(0));
    out.a = b.use(b.operand(1), type);
    out.run = f32 ? test_property<float> : test_property<double>;
    return;
  }
  b.standard(type);
  if (base == "add") out.run = choose<Add, 2>(type, out.mode);
  if (base == "sub") out.run = choose<Sub, 2>(type, out.mode);
  if (base == "mul") out.run = choose<Mul, 2>(type, out.mode);
  if (base == "fma" || base == "mad") out.run = choose<Fma, 3>(type, out.mode);
  if (base == "min" && b.operands() == 3)
    out.run = f32 ? extreme<float, false> : extreme<double, false>;
  if (base == "max" && b.operands() == 3)
    out.run = f32 ? extreme<float, true> : extreme<double, true>;
  if (base == "abs")
    out.run = f32 ? sign_bits<float, std::uint32_t, 0x7fffffffu, 0u>
                  : sign_bits<double, std::uint64_t, ~(1ull << 63), 0ull>;
  if (base == "neg")
    out.run = f32 ? sign_bits<float, std::uint32_t, ~0u, 1u << 31>
                  : sign_bits<double, std::uint64_t, ~0ull, 1ull << 63>;
  if (base == "copysign") out.run = f32 ? copy_sign<float> : copy_sign<double>;
  if (out.run != nullptr) return;
  out.op_class = f32 ? OpClass::special_function : OpClass::fp64;
  if (base == "div") out.run = choose<Div, 2>(type, out.mode);
  if (base == "rcp") out.run = choose<Rcp, 1>(type, out.mode);
  if (base == "sqrt") out.run = choose<Sqrt, 1>(type, out.mode);
  if (base == "rsqrt") out.run = choose<Rsqrt, 1>(type, out.mode);
  if (base == "ex2") out.run = choose<Ex2, 1>(type, out.mode);
  if (base == "lg2") out.run = choose<Lg2, 1>(type, out.mode);
  if (base == "sin") out.run = choose<Sin, 1>(type, out.mode);
  if (base == "cos") out.run = choose<Cos, 1>(type, out.mode);
  if (base == "tanh") out.run = choose<Tanh, 1>(type, out.mode);
  if (out.run == nullptr) b.unsupported();
}

}  // namespace emulator
