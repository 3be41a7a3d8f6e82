// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Arithmetic of f32, f64, f16, bf16 and pairs of the latter.
#include <cmath>

#include "tests/emulator/fuzz/exact.h"
#include "tests/emulator/fuzz/ops.h"

namespace fuzz {
namespace {

using U64 = std::uint64_t;

struct Modifiers {
  bool flushes = false;    // .ftz
  bool saturates = false;  // .sat: to [0, 1], NaN to 0
  bool relu = false;       // negative to 0
  bool nan_wins = false;   // .NaN
  bool xor_sign = false;   // .xorsign.abs
};
std::string text_of(const Modifiers& m) {
  return std::string(m.flushes ? ".ftz" : "") + (m.nan_wins ? ".NaN" : "") +
         (m.xor_sign ? ".xorsign.abs" : "") + (m.relu ? ".relu" : "") + (m.saturates ? ".sat" : "");
}

U64 flushed(const Format& f, U64 x) { return is_subnormal(f, x) ? sign_of(f, x) : x; }
U64 one(const Format& f) { return bits_of(f, 1.0); }

U64 finished(const Format& f, const Modifiers& m, U64 r) {
  if (m.flushes) r = flushed(f, r);
  const double x = value_of(f, r);
  if (m.saturates) {
    if (std::isnan(x) || x <= 0) return 0;
    return x >= 1 ? one(f) : r;
  }
  if (m.relu && !std::isnan(x) && (x < 0 || sign_of(f, r) != 0)) return 0;
  return r;
}

using Unary = std::function<U64(U64, U64, U64)>;

Unary computed(const Format& f, char op, Round round, Modifiers m) {
  return [&f, op, round, m](U64 a, U64 b, U64 c) {
    if (m.flushes) a = flushed(f, a), b = flushed(f, b), c = flushed(f, c);
    return finished(f, m, arithmetic(f, op, round, a, b, c));
  };
}

// -0 is less than +0; a NaN loses, unless .NaN.
Unary extreme(const Format& f, bool maximum, Modifiers m) {
  return [&f, maximum, m](U64 a, U64 b, U64) -> U64 {
    if (m.flushes) a = flushed(f, a), b = flushed(f, b);
    const U64 sign = sign_of(f, a) ^ sign_of(f, b);
    if (m.xor_sign) a ^= sign_of(f, a), b ^= sign_of(f, b);
    const bool a_nan = is_nan(f, a), b_nan = is_nan(f, b);
    if ((a_nan && b_nan) || (m.nan_wins && (a_nan || b_nan))) return canonical_nan(f);
    U64 r = 0;
    if (a_nan || b_nan) {
      r = a_nan ? b : a;
    } else {
      const double x = value_of(f, a), y = value_of(f, b);
      const bool a_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
      r = a_less == maximum ? b : a;
    }
    return m.xor_sign ? r | sign : finished(f, m, r);
  };
}

struct Type {
  const Format& format;
  std::string name;
  bool pair;
};

std::string class_name(const Type& t) {
  return t.pair ? "r" : t.format.bits == 16 ? "h" : t.format.bits == 32 ? "r" : "d";
}

// PTX leaves the payload of a NaN of these open; the program makes it one.
std::string canonical_text(const Type& t) {
  if (t.format.bits == 64) {
    return " testp.notanumber.f64 %pt, $0; @%pt mov.b64 $0, 0x7ff8000000000000;";
  }
  if (t.format.bits == 32) return " testp.notanumber.f32 %pt, $0; @%pt mov.b32 $0, 0x7fffffff;";
  if (!t.pair) return " setp.nan." + t.name + " %pt, $0, $0; @%pt mov.b16 $0, 0x7fff;";
  const std::string half = t.name.substr(0, t.name.size() - 2);
  return " mov.b32 {%ht, %hu}, $0; setp.nan." + half + " %pt, %ht, %ht; @%pt mov.b16 %ht, 0x7fff;" +
         " setp.nan." + half + " %pt, %hu, %hu; @%pt mov.b16 %hu, 0x7fff; mov.b32 $0, {%ht, %hu};";
}

void add(std::vector<Op>& ops, const std::string& opcode, const Type& t, int sources,
         const Unary& f, bool any_nan = false) {
  Op op;
  op.results = class_name(t);
  for (int i = 0; i < sources; ++i) op.sources += class_name(t);
  op.text = opcode + "." + t.name + " $0";
  for (int i = 1; i <= sources; ++i) op.text += ", $" + std::to_string(i);
  op.text += ";";
  if (any_nan) {
    op.text += canonical_text(t);
    op.guardable = false;
  }
  const Format& format = t.format;
  const auto one_part = [&format, f, any_nan](U64 a, U64 b, U64 c) {
    const U64 r = f(a, b, c);
    return any_nan && is_nan(format, r) ? canonical_nan(format) : r;
  };
  if (t.pair) {
    op.evaluate = [one_part](const Sources& in, Results& out, bool&) {
      const auto low = [&](int i) { return in[i] & 0xffff; };
      const auto high = [&](int i) { return in[i] >> 16 & 0xffff; };
      out[0] = one_part(low(0), low(1), low(2)) | one_part(high(0), high(1), high(2)) << 16;
    };
  } else {
    op.evaluate = [one_part](const Sources& in, Results& out, bool&) {
      out[0] = one_part(in[0], in[1], in[2]);
    };
  }
  ops.push_back(op);
}

struct Direction {
  const char* name;
  Round round;
};
constexpr Direction directions[] = {
    {".rn", Round::nearest}, {".rz", Round::zero}, {".rm", Round::down}, {".rp", Round::up}};

struct Operation {
  const char* name;
  char op;
  int sources;
  bool rounds_by_default;  // may be written without a rounding
};
constexpr Operation operations[] = {
    {"add", '+', 2, true},  {"sub", '-', 2, true},   {"mul", '*', 2, true}, {"fma", 'f', 3, false},
    {"div", '/', 2, false}, {"sqrt", 's', 1, false}, {"rcp", 'r', 1, false}};

void add_of_type(std::vector<Op>& ops, const Type& t) {
  const bool single = t.format.bits == 32;
  for (const Operation& o : operations) {
    const bool can_saturate = single && o.op != '/' && o.op != 's' && o.op != 'r';
    for (const Direction& d : directions) {
      for (int bits = 0; bits < 4; ++bits) {
        Modifiers m;
        m.flushes = (bits & 1) != 0;
        m.saturates = (bits & 2) != 0;
        if ((m.flushes && !single) || (m.saturates && !can_saturate)) continue;
        Unary f = computed(t.format, o.op == 'r' ? '/' : o.op, d.round, m);
        if (o.op == 'r') {
          f = [f, &format = t.format](U64 a, U64, U64) { return f(one(format), a, 0); };
        }
        // The order is rounding, ftz, sat.
        const std::string tail = text_of(m);
        add(ops, o.name + std::string(d.name) + tail, t, o.sources, f, !single);
        if (o.rounds_by_default && d.round == Round::nearest)
          add(ops, o.name + tail, t, o.sources, f, !single);
      }
    }
  }
}

void add_extremes(std::vector<Op>& ops, const Type& t) {
  const bool real64 = t.format.bits == 64;
  for (int bits = 0; bits < 8; ++bits) {
    Modifiers m;
    m.flushes = (bits & 1) != 0;
    m.nan_wins = (bits & 2) != 0;
    m.xor_sign = (bits & 4) != 0;
    if (real64 && bits != 0) continue;
    if (m.flushes && t.name.starts_with("bf16")) continue;
    add(ops, "min" + text_of(m), t, 2, extreme(t.format, false, m), real64);
    add(ops, "max" + text_of(m), t, 2, extreme(t.format, true, m), real64);
  }
}

void add_signs(std::vector<Op>& ops, const Type& t) {
  for (const bool flushes : {false, true}) {
    if (flushes && (t.format.bits == 64 || t.name.starts_with("bf16"))) continue;
    const std::string ftz = flushes ? ".ftz" : "";
    const Format& f = t.format;
    const U64 sign = U64{1} << (f.bits - 1);
    add(
        ops, "neg" + ftz, t, 1,
        [=, &f](U64 a, U64, U64) { return (flushes ? flushed(f, a) : a) ^ sign; }, true);
    add(
        ops, "abs" + ftz, t, 1,
        [=, &f](U64 a, U64, U64) { return (flushes ? flushed(f, a) : a) & ~sign; }, true);
    if (f.bits < 32 || flushes) continue;
    add(ops, "copysign", t, 2, [=](U64 a, U64 b, U64) { return (b & ~sign) | (a & sign); });
  }
}

}  // namespace

void add_real_ops(Table& table) {
  auto& ops = table.ops[static_cast<std::size_t>(Family::real)];
  const Type types[] = {{f32, "f32", false}, {f64, "f64", false}};
  for (const Type& t : types) {
    add_of_type(ops, t);
    add_extremes(ops, t);
    add_signs(ops, t);
  }
}

void add_half_ops(Table& table) {
  auto& ops = table.ops[static_cast<std::size_t>(Family::half)];
  const Type types[] = {
      {f16, "f16", false}, {f16, "f16x2", true}, {bf16, "bf16", false}, {bf16, "bf16x2", true}};
  for (const Type& t : types) {
    const bool brain = t.name.starts_with("bf16");
    for (const Operation& o : operations) {
      if (o.op == '/' || o.op == 's' || o.op == 'r') continue;
      for (int bits = 0; bits < 8; ++bits) {
        Modifiers m;
        m.flushes = (bits & 1) != 0;
        m.saturates = (bits & 2) != 0;
        m.relu = (bits & 4) != 0;
        if (brain && (m.flushes || m.saturates)) continue;
        if (m.relu && (o.op != 'f' || m.saturates)) continue;
        const std::string rounding = bits % 3 == 0 || o.op == 'f' ? ".rn" : "";
        add(ops, o.name + rounding + text_of(m), t, o.sources,
            computed(t.format, o.op, Round::nearest, m));
      }
    }
    add_extremes(ops, t);
    add_signs(ops, t);
  }
}

}  // namespace fuzz
