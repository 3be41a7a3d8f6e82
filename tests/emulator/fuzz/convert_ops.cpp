// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// cvt between all scalar types.
#include <cmath>

#include "tests/emulator/fuzz/exact.h"
#include "tests/emulator/fuzz/ops.h"

namespace fuzz {
namespace {

using U64 = std::uint64_t;
using I64 = std::int64_t;

struct Integer {
  const char* name;
  int bits;
  bool sign;
};
constexpr Integer integers[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                                {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                                {"u64", 64, false}, {"s64", 64, true}};
struct Real {
  const char* name;
  const Format& format;
};
const Real reals[] = {{"f16", f16}, {"bf16", bf16}, {"f32", f32}, {"f64", f64}};

struct Direction {
  const char* name;
  Round round;
};
constexpr Direction directions[] = {
    {"rn", Round::nearest}, {"rz", Round::zero}, {"rm", Round::down}, {"rp", Round::up}};

std::string class_for(int bits) { return bits <= 16 ? "h" : bits == 32 ? "r" : "d"; }

__int128 integer_value(const Integer& t, U64 bits) {
  __int128 value = bits;
  if (t.bits < 64) value &= (__int128{1} << t.bits) - 1;
  if (t.sign && (bits >> (t.bits - 1) & 1) != 0) value -= __int128{1} << t.bits;
  return value;
}
__int128 lowest(const Integer& t) { return t.sign ? -(__int128{1} << (t.bits - 1)) : 0; }
__int128 highest(const Integer& t) { return (__int128{1} << (t.bits - (t.sign ? 1 : 0))) - 1; }

// A register wider than the type holds the value extended as the type says.
U64 in_register(const Integer& t, __int128 value) {
  const U64 bits = static_cast<U64>(static_cast<unsigned __int128>(value));
  return static_cast<U64>(static_cast<unsigned __int128>(integer_value(t, bits)));
}

Op conversion(const std::string& modifiers, const std::string& to, const std::string& from,
              const std::string& results, const std::string& sources,
              const std::function<U64(U64)>& f) {
  return {"cvt" + modifiers + "." + to + "." + from + " $0, $1;", results, sources,
          [f](const Sources& in, Results& out, bool&) { out[0] = f(in[0]); }};
}

void add_integer_conversions(std::vector<Op>& ops) {
  for (const Integer& to : integers) {
    for (const Integer& from : integers) {
      // Registers that fit, and the widest ones.
      for (const bool wide : {false, true}) {
        const std::string d = wide ? "d" : class_for(to.bits),
                          s = wide ? "d" : class_for(from.bits);
        ops.push_back(conversion("", to.name, from.name, d, s, [&to, &from](U64 x) {
          return in_register(to, integer_value(from, x));
        }));
        if (lowest(to) <= lowest(from) && highest(from) <= highest(to)) continue;
        ops.push_back(conversion(".sat", to.name, from.name, d, s, [&to, &from](U64 x) {
          const __int128 v = integer_value(from, x);
          return in_register(to, v < lowest(to) ? lowest(to) : v > highest(to) ? highest(to) : v);
        }));
      }
    }
  }
}

double to_integral(double x, Round round) {
  const double below = std::floor(x);
  switch (round) {
    case Round::down:
      return below;
    case Round::up:
      return std::ceil(x);
    case Round::zero:
      return std::trunc(x);
    default: {
      const double rest = x - below;
      const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
      return std::copysign(up ? below + 1 : below, x);
    }
  }
}

U64 flushed(const Format& f, U64 x, bool flushes) {
  return flushes && is_subnormal(f, x) ? sign_of(f, x) : x;
}

void add_real_to_integer(std::vector<Op>& ops) {
  for (const Integer& to : integers) {
    for (const Real& from : reals) {
      if (std::string(from.name) == "bf16" && to.bits == 8) continue;
      for (const Direction& d : directions) {
        const bool flushes =
            from.format.bits == 32 && (to.bits + static_cast<int>(d.round)) % 3 == 0;
        ops.push_back(conversion(std::string(".") + d.name + "i" + (flushes ? ".ftz" : ""), to.name,
                                 from.name, class_for(to.bits), class_for(from.format.bits),
                                 [&to, &from, d, flushes](U64 x) -> U64 {
                                   const double v = to_integral(
                                       value_of(from.format, flushed(from.format, x, flushes)),
                                       d.round);
                                   if (std::isnan(v)) {
                                     return from.format.bits != 64 && to.bits != 64
                                                ? 0
                                                : in_register(to, __int128{1} << (to.bits - 1));
                                   }
                                   if (v >= std::ldexp(1.0, to.bits - (to.sign ? 1 : 0)))
                                     return in_register(to, highest(to));
                                   if (v <= static_cast<double>(lowest(to)))
                                     return in_register(to, lowest(to));
                                   return in_register(to, static_cast<__int128>(v));
                                 }));
      }
    }
  }
}

void add_integer_to_real(std::vector<Op>& ops) {
  for (const Real& to : reals) {
    for (const Integer& from : integers) {
      if (std::string(to.name) == "bf16" && from.bits == 8) continue;
      for (const Direction& d : directions) {
        ops.push_back(
            conversion(std::string(".") + d.name, to.name, from.name, class_for(to.format.bits),
                       class_for(from.bits), [&to, &from, d](U64 x) -> U64 {
                         const __int128 v = integer_value(from, x);
                         return from.sign ? from_signed(to.format, static_cast<I64>(v), d.round)
                                          : from_unsigned(to.format, static_cast<U64>(v), d.round);
                       }));
      }
    }
  }
}

U64 converted(const Format& to, double x, Round round, bool saturates) {
  if (saturates) x = std::isnan(x) || x <= 0 ? 0 : std::fmin(x, 1);
  return from_double(to, x, round);
}

void add_real_conversion(std::vector<Op>& ops, const Real& to, const Real& from) {
  const auto add = [&](const std::string& modifiers, Round round, bool integral, bool flushes,
                       bool saturates) {
    ops.push_back(conversion(modifiers, to.name, from.name, class_for(to.format.bits),
                             class_for(from.format.bits), [=, &to, &from](U64 x) {
                               double v = value_of(
                                   from.format,
                                   flushed(from.format, x, flushes && from.format.bits == 32));
                               if (integral) v = to_integral(v, round);
                               const U64 r = converted(to.format, v, round, saturates);
                               return flushed(to.format, r, flushes && to.format.bits == 32);
                             }));
    if (to.format.bits == 64) {  // the payload of its NaN is open
      ops.back().text += " testp.notanumber.f64 %pt, $0; @%pt mov.b64 $0, 0x7ff8000000000000;";
      ops.back().guardable = false;
    }
  };
  const bool same = &to.format == &from.format;
  const bool narrows = to.format.bits < from.format.bits;
  const bool single = to.format.bits == 32 || from.format.bits == 32;
  const bool brain = std::string(to.name) == "bf16" || std::string(from.name) == "bf16";
  for (const Direction& d : directions) {
    for (int bits = 0; bits < 4; ++bits) {
      const bool flushes = (bits & 1) != 0, saturates = (bits & 2) != 0;
      if ((flushes && !single) || (brain && bits != 0)) continue;
      const std::string tail = std::string(flushes ? ".ftz" : "") + (saturates ? ".sat" : "");
      if (narrows && !brain)
        add(std::string(".") + d.name + tail, d.round, false, flushes, saturates);
      if (same && !brain)
        add(std::string(".") + d.name + "i" + tail, d.round, true, flushes, saturates);
      if (!narrows && !same && d.round == Round::nearest && !(brain && to.format.bits == 16))
        add(tail, d.round, false, flushes, saturates);
    }
  }
}

}  // namespace

void add_conversions(Table& table) {
  auto& ops = table.ops[static_cast<std::size_t>(Family::convert)];
  add_integer_conversions(ops);
  add_real_to_integer(ops);
  add_integer_to_real(ops);
  for (const Real& to : reals)
    for (const Real& from : reals) add_real_conversion(ops, to, from);
}

const Table& table() {
  static const Table result = [] {
    Table t;
    add_integer_ops(t);
    add_carry_ops(t);
    add_bit_ops(t);
    add_memory_ops(t);
    add_compare_ops(t);
    add_real_ops(t);
    add_half_ops(t);
    add_conversions(t);
    add_packed_conversions(t);
    return t;
  }();
  return result;
}

}  // namespace fuzz
