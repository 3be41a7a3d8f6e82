// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// setp set selp slct.
#include <array>
#include <cmath>

#include "emulator/decode/decoder.h"
#include "emulator/decode/formats.h"
#include "emulator/decode/lanes.h"

namespace emulator {
namespace {

using U32 = std::uint32_t;

struct Eq {
  template <typename T>
  static bool of(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <typename T>
  static bool of(T a, T b) {
    return a < b || a > b;
  }
};  // false for NaN
struct Lt {
  template <typename T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <typename T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <typename T>
  static bool of(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <typename T>
  static bool of(T a, T b) {
    return a >= b;
  }
};
template <typename F>
struct OrNan {
  template <typename T>
  static bool of(T a, T b) {
    return std::isunordered(a, b) || F::of(a, b);
  }
};
struct Num {
  template <typename T>
  static bool of(T a, T b) {
    return !std::isunordered(a, b);
  }
};
struct Nan {
  template <typename T>
  static bool of(T a, T b) {
    return std::isunordered(a, b);
  }
};

// Loads of the operand types.
template <typename T>
struct Load {
  using Register = T;
  static T of(T x) { return x; }
};
struct LoadFlushed {
  using Register = float;
  static float of(float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
  }
};
struct LoadF16 {
  using Register = std::uint16_t;
  static float of(std::uint16_t x) { return f16_to_float(x); }
};
struct LoadBf16 {
  using Register = std::uint16_t;
  static float of(std::uint16_t x) { return bf16_to_float(x); }
};

template <typename F, typename L>
U32 compare(Warp& w, const Instr& i, U32 mask) {
  using R = typename L::Register;
  std::byte* a = w.file + i.a;
  std::byte* b = w.file + i.b;
  U32 bits = 0;
  if (mask == all_lanes) {
    std::array<U32, 32> each;
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) {
      each[static_cast<std::size_t>(l)] =
          F::of(L::of(lane_of<R>(a, l)), L::of(lane_of<R>(b, l))) ? 1u << l : 0u;
    }
    for (const U32 bit : each) bits |= bit;
  } else {
    for_lanes(mask, [&](int l) {
      if (F::of(L::of(lane_of<R>(a, l)), L::of(lane_of<R>(b, l)))) bits |= 1u << l;
    });
  }
  return bits;
}

// Instr::mode: how a third predicate is combined.
enum Combine : std::uint8_t { none, with_and, with_or, with_xor };
U32 combine(U32 bits, U32 other, std::uint8_t mode) {
  switch (mode) {
    case with_and:
      return bits & other;
    case with_or:
      return bits | other;
    case with_xor:
      return bits ^ other;
    default:
      return bits;
  }
}

template <typename F, typename L>
void setp(Warp& w, const Instr& i, U32 mask) {
  const U32 bits = compare<F, L>(w, i, mask);
  if (i.mode == none && i.dst2 == -1) return set_predicate(w, i.dst, bits, mask);
  U32 other = i.c == -1 ? 0 : predicate(w, i.c);
  if (i.negated) other = ~other;
  set_predicate(w, i.dst, combine(bits, other, i.mode), mask);
  if (i.dst2 != -1) set_predicate(w, i.dst2, combine(~bits, other, i.mode), mask);
}

// set: a register of all ones (integers) or 1.0 (floats).
template <typename F, typename L>
void set(Warp& w, const Instr& i, U32 mask) {
  U32 other = i.c == -1 ? 0 : predicate(w, i.c);
  if (i.negated) other = ~other;
  const U32 bits = combine(compare<F, L>(w, i, mask), other, i.mode);
  const U32 yes = static_cast<U32>(i.offset);
  for_lanes(mask, [&](int l) { lane_of<U32>(w, i.dst, l) = bits >> l & 1 ? yes : 0; });
}

template <typename L, template <typename, typename> class Make>
Handler by_order(std::string_view order) {
  if (order == "eq") return Make<Eq, L>::run;
  if (order == "ne") return Make<Ne, L>::run;
  if (order == "lt" || order == "lo") return Make<Lt, L>::run;
  if (order == "le" || order == "ls") return Make<Le, L>::run;
  if (order == "gt" || order == "hi") return Make<Gt, L>::run;
  if (order == "ge" || order == "hs") return Make<Ge, L>::run;
  if constexpr (std::is_floating_point_v<decltype(L::of({}))>) {
    if (order == "equ") return Make<OrNan<Eq>, L>::run;
    if (order == "neu") return Make<OrNan<Ne>, L>::run;
    if (order == "ltu") return Make<OrNan<Lt>, L>::run;
    if (order == "leu") return Make<OrNan<Le>, L>::run;
    if (order == "gtu") return Make<OrNan<Gt>, L>::run;
    if (order == "geu") return Make<OrNan<Ge>, L>::run;
    if (order == "num") return Make<Num, L>::run;
    if (order == "nan") return Make<Nan, L>::run;
  }
  return nullptr;
}
template <typename F, typename L>
struct MakeSetp {
  static constexpr Handler run = setp<F, L>;
};
template <typename F, typename L>
struct MakeSet {
  static constexpr Handler run = set<F, L>;
};

template <template <typename, typename> class Make>
Handler choose(const ptx::Instruction& in, ptx::Type type) {
  const std::string_view order = in.parts[1];
  if (type.name == "f16") return by_order<LoadF16, Make>(order);
  if (type.name == "bf16") return by_order<LoadBf16, Make>(order);
  if (type.name == "f32")
    return in.has("ftz") ? by_order<LoadFlushed, Make>(order) : by_order<Load<float>, Make>(order);
  if (type.name == "f64") return by_order<Load<double>, Make>(order);
  const bool sign = type.kind == ptx::Kind::signed_int;
  if (type.bytes == 2)
    return sign ? by_order<Load<std::int16_t>, Make>(order)
                : by_order<Load<std::uint16_t>, Make>(order);
  if (type.bytes == 4)
    return sign ? by_order<Load<std::int32_t>, Make>(order) : by_order<Load<U32>, Make>(order);
  return sign ? by_order<Load<std::int64_t>, Make>(order)
              : by_order<Load<std::uint64_t>, Make>(order);
}

template <typename T>
void selp(Warp& w, const Instr& i, U32 mask) {
  U32 which = predicate(w, i.c);
  if (i.negated) which = ~which;
  std::byte* a = w.file + i.a;
  std::byte* b = w.file + i.b;
  for_lanes(mask, [&](int l) {
    lane_of<T>(w, i.dst, l) = which >> l & 1 ? lane_of<T>(a, l) : lane_of<T>(b, l);
  });
}

template <typename T, typename C>
void slct(Warp& w, const Instr& i, U32 mask) {
  map3<T, T, T, C>(w, i, mask, [](T a, T b, C c) { return c >= 0 ? a : b; });
}

// With .ftz a negative subnormal counts as zero.
template <typename T>
void slct_flushed(Warp& w, const Instr& i, U32 mask) {
  map3<T, T, T, float>(w, i, mask,
                       [](T a, T b, float c) { return LoadFlushed::of(c) >= 0 ? a : b; });
}

void decode_setp(Builder& b, ptx::Type type) {
  const bool is_setp = b.in.base() == "setp";
  Instr& out = b.out;
  const ptx::Operand& dst = b.operand(0);
  if (is_setp && dst.kind == ptx::OperandKind::pair) {
    out.dst = b.def_predicate(dst.parts[0]);
    out.dst2 = b.def_predicate(dst.parts[1]);
  } else {
    out.dst = is_setp ? b.def_predicate(dst) : b.def(dst, 4);
  }
  out.a = b.use(b.operand(1), type);
  out.b = b.use(b.operand(2), type);
  if (b.operands() > 3) {
    out.c = b.use_predicate(b.operand(3));
    out.negated = b.operand(3).negated;
    out.mode = b.in.has("and") ? with_and : b.in.has("or") ? with_or : with_xor;
  }
  out.run = is_setp ? choose<MakeSetp>(b.in, type) : choose<MakeSet>(b.in, type);
  if (!is_setp) {
    const ptx::Type to = b.in.type(1);
    if (to.bytes != 4 || to.name == "f16x2" || to.name == "bf16x2") b.unsupported();
    out.offset = to.kind == ptx::Kind::real ? 0x3f800000 : 0xffffffff;
  }
}

}  // namespace

void decode_compare(Builder& b) {
  const std::string_view base = b.in.base();
  const ptx::Type type = b.in.type();
  Instr& out = b.out;
  if (type.name == "f16x2" || type.name == "bf16x2") b.unsupported();
  if (base == "setp" || base == "set") {
    decode_setp(b, type);
  } else if (base == "selp") {
    out.dst = b.def(b.operand(0), type.bytes);
    out.a = b.use(b.operand(1), type);
    out.b = b.use(b.operand(2), type);
    out.c = b.use_predicate(b.operand(3));
    out.negated = b.operand(3).negated;
    out.run = type.bytes == 8   ? selp<std::uint64_t>
              : type.bytes == 4 ? selp<U32>
                                : selp<std::uint16_t>;
  } else {  // slct.type.ctype
    const ptx::Type value = b.in.type(1);
    out.dst = b.def(b.operand(0), value.bytes);
    out.a = b.use(b.operand(1), value);
    out.b = b.use(b.operand(2), value);
    out.c = b.use(b.operand(3), type);
    const bool real = type.kind == ptx::Kind::real;
    out.run = value.bytes == 8
                  ? (real ? slct<std::uint64_t, float> : slct<std::uint64_t, std::int32_t>)
                  : (real ? slct<U32, float> : slct<U32, std::int32_t>);
    if (b.in.has("ftz"))
      out.run = value.bytes == 8 ? slct_flushed<std::uint64_t> : slct_flushed<U32>;
  }
  if (out.run == nullptr) b.unsupported();
}

}  // namespace emulator
