// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// add sub mul mad sad div rem abs neg min max.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"
#include "emulator/decode/wide_integer.h"

namespace emulator {
namespace {

using ptx::Kind;

template <typename T>
struct Add {
  T operator()(T a, T b) const {
    return wrap<T>(static_cast<Unsigned<T>>(Unsigned<T>(a) + Unsigned<T>(b)));
  }
};
template <typename T>
struct Sub {
  T operator()(T a, T b) const {
    return wrap<T>(static_cast<Unsigned<T>>(Unsigned<T>(a) - Unsigned<T>(b)));
  }
};
template <typename T>
T low_product(T a, T b) {
  using U = std::common_type_t<Unsigned<T>, unsigned int>;  // u16 * u16 would overflow an int
  return static_cast<T>(static_cast<U>(Unsigned<T>(a)) * static_cast<U>(Unsigned<T>(b)));
}
template <typename T>
T high_product(T a, T b) {
  return static_cast<T>((static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b)) >> (8 * sizeof(T)));
}
template <typename T>
struct MulLo {
  T operator()(T a, T b) const { return low_product(a, b); }
};
template <typename T>
struct MulHi {
  T operator()(T a, T b) const { return high_product(a, b); }
};
template <typename T>
struct MadLo {
  T operator()(T a, T b, T c) const { return Add<T>{}(low_product(a, b), c); }
};
template <typename T>
struct MadHi {
  T operator()(T a, T b, T c) const { return Add<T>{}(high_product(a, b), c); }
};
template <typename T>
struct MulWide {
  Twice<T> operator()(T a, T b) const {
    return static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b);
  }
};
template <typename T>
struct MadWide {
  Twice<T> operator()(T a, T b, Twice<T> c) const { return Add<Twice<T>>{}(MulWide<T>{}(a, b), c); }
};
template <typename T>
struct Div {
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return wrap<T>(static_cast<Unsigned<T>>(0 - Unsigned<T>(a)));
    }
    return static_cast<T>(a / b);
  }
};
template <typename T>
struct Rem {
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
template <typename T>
struct Min {
  T operator()(T a, T b) const { return std::min(a, b); }
};
template <typename T>
struct Max {
  T operator()(T a, T b) const { return std::max(a, b); }
};
template <typename T>
struct MinRelu {
  T operator()(T a, T b) const { return std::max<T>(std::min(a, b), 0); }
};
template <typename T>
struct MaxRelu {
  T operator()(T a, T b) const { return std::max<T>(std::max(a, b), 0); }
};
template <typename T>
struct Sad {
  T operator()(T a, T b, T c) const {
    const auto distance = a > b ? Unsigned<T>(a) - Unsigned<T>(b) : Unsigned<T>(b) - Unsigned<T>(a);
    return Add<T>{}(static_cast<T>(distance), c);
  }
};
template <typename T>
struct Neg {
  T operator()(T a) const { return Sub<T>{}(0, a); }
};
template <typename T>
struct Abs {
  T operator()(T a) const { return a < 0 ? Sub<T>{}(0, a) : a; }
};
struct AddSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} + b, INT32_MIN, INT32_MAX));
  }
};
struct SubSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} - b, INT32_MIN, INT32_MAX));
  }
};
// The high half of the product plus c, saturated.
struct MadHiSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{high_product(a, b)} + c, INT32_MIN, INT32_MAX));
  }
};

template <template <typename> class F>
Handler binary_of(ptx::Type type) {
  const bool sign = type.kind == Kind::signed_int;
  switch (type.bytes) {
    case 2:
      return sign ? binary<F<std::int16_t>, std::int16_t> : binary<F<std::uint16_t>, std::uint16_t>;
    case 4:
      return sign ? binary<F<std::int32_t>, std::int32_t> : binary<F<std::uint32_t>, std::uint32_t>;
    case 8:
      return sign ? binary<F<std::int64_t>, std::int64_t> : binary<F<std::uint64_t>, std::uint64_t>;
    default:
      return nullptr;
  }
}
template <template <typename> class F>
Handler ternary_of(ptx::Type type) {
  const bool sign = type.kind == Kind::signed_int;
  switch (type.bytes) {
    case 2:
      return sign ? ternary<F<std::int16_t>, std::int16_t>
                  : ternary<F<std::uint16_t>, std::uint16_t>;
    case 4:
      return sign ? ternary<F<std::int32_t>, std::int32_t>
                  : ternary<F<std::uint32_t>, std::uint32_t>;
    case 8:
      return sign ? ternary<F<std::int64_t>, std::int64_t>
                  : ternary<F<std::uint64_t>, std::uint64_t>;
    default:
      return nullptr;
  }
}
template <template <typename> class F>
Handler signed_unary(ptx::Type type) {
  switch (type.bytes) {
    case 2:
      return unary<F<std::int16_t>, std::int16_t>;
    case 4:
      return unary<F<std::int32_t>, std::int32_t>;
    case 8:
      return unary<F<std::int64_t>, std::int64_t>;
    default:
      return nullptr;
  }
}

void decode_wide(Builder& b, ptx::Type type) {
  const bool sign = type.kind == Kind::signed_int;
  const bool mad = b.in.base() == "mad";
  b.out.dst = b.def(b.operand(0), 2 * type.bytes);
  b.out.a = b.use(b.operand(1), type);
  b.out.b = b.use(b.operand(2), type);
  if (mad) b.out.c = b.use(b.operand(3), 2 * type.bytes);
  using I16 = std::int16_t;
  using U16 = std::uint16_t;
  using I32 = std::int32_t;
  using U32 = std::uint32_t;
  if (type.bytes == 2) {
    b.out.run = mad ? (sign ? ternary<MadWide<I16>, I32, I16> : ternary<MadWide<U16>, U32, U16>)
                    : (sign ? binary<MulWide<I16>, I32, I16> : binary<MulWide<U16>, U32, U16>);
  } else {
    using I64 = std::int64_t;
    using U64 = std::uint64_t;
    b.out.run = mad ? (sign ? ternary<MadWide<I32>, I64, I32> : ternary<MadWide<U32>, U64, U32>)
                    : (sign ? binary<MulWide<I32>, I64, I32> : binary<MulWide<U32>, U64, U32>);
  }
}

}  // namespace

void decode_integer(Builder& b) {
  const std::string_view base = b.in.base();
  b.out.op_class = OpClass::alu;
  const ptx::Type type = b.in.type();
  const bool product = base == "mul" || base == "mad";
  if (product || base == "div" || base == "rem") b.out.op_class = OpClass::imad;
  if (product && b.in.has("wide")) return decode_wide(b, type);
  b.standard(type);
  const bool relu = b.in.has("relu");
  const bool sat = b.in.has("sat");
  Handler run = nullptr;
  if (base == "add") run = sat ? binary<AddSat, std::int32_t> : binary_of<Add>(type);
  if (base == "sub") run = sat ? binary<SubSat, std::int32_t> : binary_of<Sub>(type);
  if (base == "mul") run = b.in.has("hi") ? binary_of<MulHi>(type) : binary_of<MulLo>(type);
  if (base == "mad") run = b.in.has("hi") ? ternary_of<MadHi>(type) : ternary_of<MadLo>(type);
  if (base == "div") run = binary_of<Div>(type);
  if (base == "rem") run = binary_of<Rem>(type);
  if (base == "min") run = relu ? binary_of<MinRelu>(type) : binary_of<Min>(type);
  if (base == "max") run = relu ? binary_of<MaxRelu>(type) : binary_of<Max>(type);
  if (base == "sad") run = ternary_of<Sad>(type);
  if (base == "neg") run = signed_unary<Neg>(type);
  if (base == "abs") run = signed_unary<Abs>(type);
  if (base == "mad" && sat) run = b.in.has("hi") ? ternary<MadHiSat, std::int32_t> : nullptr;
  if (run == nullptr) b.unsupported();
  b.out.run = run;
}

}  // namespace emulator
