// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// cvt to and from packed and 8-bit floats, with .relu and .satfinite; tf32.
#include <array>
#include <cmath>

#include "tests/emulator/fuzz/exact.h"
#include "tests/emulator/fuzz/ops.h"

namespace fuzz {
namespace {

using U64 = std::uint64_t;

// The value of an 8-bit float by its definition, e4m3 with 3 bits of mantissa or e5m2 with 2.
double value_of_8_bits(U64 code, int m) {
  const int bias = m == 3 ? 7 : 15;
  const auto exponent = static_cast<int>(code >> m & (m == 3 ? 15 : 31));
  const double fraction = std::ldexp(static_cast<double>(code & ((1u << m) - 1)), -m);
  const double sign = code & 0x80 ? -1 : 1;
  if (m == 3 && (code & 0x7f) == 0x7f) return NAN;
  if (m == 2 && exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, exponent - bias));
}

// The nearest of all finite values, of two the even one; beyond the largest: the largest.
U64 nearest_8_bits(double x, int m) {
  if (std::isnan(x)) return 0x7f;
  const U64 largest = m == 3 ? 0x7e : 0x7b;
  static const auto tables = [] {
    std::array<std::array<double, 128>, 2> values;
    for (U64 code = 0; code < 128; ++code) {
      values[0][code] = value_of_8_bits(code, 2);
      values[1][code] = value_of_8_bits(code, 3);
    }
    return values;
  }();
  const auto& values = tables[m == 3 ? 1 : 0];
  const double magnitude = std::fmin(std::fabs(x), values[largest]);
  U64 best = 0;
  for (U64 code = 1; code <= largest; ++code) {
    const double now = std::fabs(magnitude - values[code]);
    const double least = std::fabs(magnitude - values[best]);
    if (now < least || (now == least && code % 2 == 0)) best = code;
  }
  return (std::signbit(x) ? 0x80 : 0) | best;
}

// .relu: negative to 0.
double kept(double x, bool relu) { return relu && x <= 0 ? 0.0 : x; }

Op conversion(const std::string& modifiers, const std::string& to, const std::string& from,
              const std::string& results, const std::string& sources,
              const std::function<U64(U64)>& f) {
  return {"cvt" + modifiers + "." + to + "." + from + " $0, $1;", results, sources,
          [f](const Sources& in, Results& out, bool&) { out[0] = f(in[0]); }};
}

}  // namespace

void add_packed_conversions(Table& table) {
  auto& ops = table.ops[static_cast<std::size_t>(Family::convert)];
  for (const bool relu : {false, true}) {
    const std::string tail = relu ? ".relu" : "";
    for (const Format* to : {&f16, &bf16}) {
      for (const Round round : {Round::nearest, Round::zero}) {
        const Format& f = *to;
        const std::string type = to == &f16 ? "f16" : "bf16";
        const std::string modifiers = (round == Round::zero ? ".rz" : ".rn") + tail;
        const auto one = [&f, round, relu](U64 x) {
          return from_double(f, kept(value_of(f32, x & 0xffffffff), relu), round);
        };
        ops.push_back({"cvt" + modifiers + "." + type + "x2.f32 $0, $1, $2;", "r", "rr",
                       [one](const Sources& in, Results& out, bool&) {
                         out[0] = one(in[0]) << 16 | one(in[1]);
                       }});
        ops.push_back(conversion(modifiers, type, "f32", "h", "r", one));
      }
    }
    for (const int m : {3, 2}) {
      const std::string name = m == 3 ? "e4m3x2" : "e5m2x2";
      const auto one = [m, relu](double x) { return nearest_8_bits(kept(x, relu), m); };
      ops.push_back({"cvt.rn.satfinite" + tail + "." + name + ".f32 $0, $1, $2;", "h", "rr",
                     [one](const Sources& in, Results& out, bool&) {
                       out[0] = one(value_of(f32, in[0])) << 8 | one(value_of(f32, in[1]));
                     }});
      ops.push_back({"cvt.rn.satfinite" + tail + "." + name + ".f16x2 $0, $1;", "h", "r",
                     [one](const Sources& in, Results& out, bool&) {
                       out[0] = one(value_of(f16, in[0] >> 16)) << 8 |
                                one(value_of(f16, in[0] & 0xffff));
                     }});
    }
  }
  for (const int m : {3, 2}) {
    for (const bool relu : {false, true}) {
      ops.push_back(conversion(
          relu ? ".rn.relu" : ".rn", "f16x2", m == 3 ? "e4m3x2" : "e5m2x2", "r", "h",
          [m, relu](U64 x) {
            const auto one = [&](U64 code) {
              return from_double(f16, kept(value_of_8_bits(code & 0xff, m), relu), Round::nearest);
            };
            return one(x) | one(x >> 8) << 16;
          }));
    }
  }
  for (const bool away : {false, true}) {
    ops.push_back(conversion(away ? ".rna" : ".rn", "tf32", "f32", "r", "r", [away](U64 x) -> U64 {
      if (is_nan(f32, x)) return 0x7fffffff;
      if (!away) return from_double(tf32, value_of(f32, x), Round::nearest) << 13;
      if (std::isinf(value_of(f32, x))) return x;
      return (x + 0x1000) & 0xffffe000;  // half of the last kept place; carries are right
    }));
  }
}

}  // namespace fuzz
