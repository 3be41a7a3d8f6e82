// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// setp set selp slct testp.
#include <cmath>

#include "tests/emulator/fuzz/exact.h"
#include "tests/emulator/fuzz/ops.h"

namespace fuzz {
namespace {

// The outcome of a comparison.
enum Order : std::uint8_t { less, equal, greater, unordered };
struct Comparison {
  const char* name;
  std::array<bool, 4> holds;  // by Order
};
constexpr Comparison ordered[] = {
    {"eq", {false, true, false, false}}, {"ne", {true, false, true, false}},
    {"lt", {true, false, false, false}}, {"le", {true, true, false, false}},
    {"gt", {false, false, true, false}}, {"ge", {false, true, true, false}}};
constexpr Comparison unsigned_only[] = {{"lo", {true, false, false, false}},
                                        {"ls", {true, true, false, false}},
                                        {"hi", {false, false, true, false}},
                                        {"hs", {false, true, true, false}}};
constexpr Comparison of_reals[] = {
    {"equ", {false, true, false, true}}, {"neu", {true, false, true, true}},
    {"ltu", {true, false, false, true}}, {"leu", {true, true, false, true}},
    {"gtu", {false, false, true, true}}, {"geu", {false, true, true, true}},
    {"num", {true, true, true, false}},  {"nan", {false, false, false, true}}};

using Compare = std::function<Order(std::uint64_t, std::uint64_t)>;
struct Type {
  std::string name;
  Class size;
  Compare compare;
  std::string suffix;  // .ftz
};

template <typename T>
Type of_integers(const std::string& name) {
  return {name, class_of<T>,
          [](std::uint64_t x, std::uint64_t y) {
            const auto a = static_cast<T>(x), b = static_cast<T>(y);
            return a < b ? less : a > b ? greater : equal;
          },
          ""};
}

Type of_format(const std::string& name, const Format& f, Class size, bool flushes) {
  return {name, size,
          [&f, flushes](std::uint64_t x, std::uint64_t y) {
            const auto value = [&](std::uint64_t bits) {
              return flushes && is_subnormal(f, bits) ? 0.0 : value_of(f, bits);
            };
            const double a = value(x), b = value(y);
            if (std::isnan(a) || std::isnan(b)) return unordered;
            return a < b ? less : a > b ? greater : equal;
          },
          flushes ? ".ftz" : ""};
}

bool combined(int how, bool x, bool y) { return how == 0 ? x && y : how == 1 ? x || y : x != y; }
constexpr const char* combinations[] = {".and", ".or", ".xor"};

// setp with one and two results, alone and combined with a third predicate, negated or not; `turn`
// spreads the forms over the comparisons, so that the table stays small.
void add_setp(std::vector<Op>& ops, const Type& t, const Comparison& c, int turn) {
  const auto holds = c.holds;
  const Compare compare = t.compare;
  const std::string pair(2, t.size);
  const std::string name = std::string("setp.") + c.name;
  const std::string type = t.suffix + "." + t.name;
  ops.push_back(
      {name + type + " $0, $1, $2;", "p", pair,
       [=](const Sources& in, Results& out, bool&) { out[0] = holds[compare(in[0], in[1])]; }});
  const int how = turn % 3;
  const bool negated = turn % 2 != 0;
  const bool two = turn % 4 < 2 && !t.name.ends_with("f16");
  ops.push_back({name + combinations[how] + type + (two ? " $0|$1, $2, $3, " : " $0, $1, $2, ") +
                     (negated ? "!" : "") + (two ? "$4;" : "$3;"),
                 two ? "pp" : "p", pair + "p", [=](const Sources& in, Results& out, bool&) {
                   const bool yes = holds[compare(in[0], in[1])];
                   const bool other = (in[2] != 0) != negated;
                   out = {combined(how, yes, other), combined(how, !yes, other)};
                 }});
}

void add_set(std::vector<Op>& ops, const Type& t, const Comparison& c, int turn) {
  const auto holds = c.holds;
  const Compare compare = t.compare;
  const std::uint64_t one = turn % 2 ? 0xffffffff : 0x3f800000;
  const std::string result = turn % 2 ? (turn % 4 == 1 ? ".u32" : ".s32") : ".f32";
  const std::string pair(2, t.size);
  const std::string name = std::string("set.") + c.name;
  if (turn % 3 == 0) {
    ops.push_back({name + t.suffix + result + "." + t.name + " $0, $1, $2;", "r", pair,
                   [=](const Sources& in, Results& out, bool&) {
                     out[0] = holds[compare(in[0], in[1])] ? one : 0;
                   }});
    return;
  }
  const int how = turn % 3;
  ops.push_back({name + combinations[how] + t.suffix + result + "." + t.name + " $0, $1, $2, $3;",
                 "r", pair + "p", [=](const Sources& in, Results& out, bool&) {
                   out[0] = combined(how, holds[compare(in[0], in[1])], in[2] != 0) ? one : 0;
                 }});
}

void add_choices(std::vector<Op>& ops) {
  for (const char* t : {"b16", "u16", "s16", "b32", "u32", "f32", "b64", "s64", "f64"}) {
    const std::string name(t);
    const Class c = name.ends_with("16") ? 'h' : name.ends_with("32") ? 'r' : 'd';
    ops.push_back({"selp." + name + " $0, $1, $2, $3;", std::string(1, c), std::string(2, c) + "p",
                   [](const Sources& in, Results& out, bool&) { out[0] = in[2] ? in[0] : in[1]; }});
    ops.push_back({"slct." + name + ".s32 $0, $1, $2, $3;", std::string(1, c),
                   std::string(2, c) + "r", [](const Sources& in, Results& out, bool&) {
                     out[0] = (in[2] >> 31 & 1) == 0 ? in[0] : in[1];
                   }});
    for (const bool flushes : {false, true}) {
      ops.push_back({"slct" + std::string(flushes ? ".ftz." : ".") + name + ".f32 $0, $1, $2, $3;",
                     std::string(1, c), std::string(2, c) + "r",
                     [flushes](const Sources& in, Results& out, bool&) {
                       const double x = value_of(f32, in[2] & 0xffffffff);
                       const bool zero = flushes && is_subnormal(f32, in[2]);
                       out[0] = zero || x >= 0 ? in[0] : in[1];
                     }});
    }
  }
}

void add_properties(std::vector<Op>& ops) {
  for (const Format* f : {&f32, &f64}) {
    const std::string type = f->bits == 32 ? ".f32" : ".f64";
    const std::string source(1, f->bits == 32 ? 'r' : 'd');
    const auto add = [&](const std::string& name, auto holds) {
      ops.push_back({"testp." + name + type + " $0, $1;", "p", source,
                     [f, holds](const Sources& in, Results& out, bool&) {
                       out[0] = holds(value_of(*f, in[0]), is_subnormal(*f, in[0]));
                     }});
    };
    add("finite", [](double x, bool) { return std::isfinite(x); });
    add("infinite", [](double x, bool) { return std::isinf(x); });
    add("number", [](double x, bool) { return !std::isnan(x); });
    add("notanumber", [](double x, bool) { return std::isnan(x); });
    add("normal", [](double x, bool small) { return std::isfinite(x) && x != 0 && !small; });
    add("subnormal", [](double, bool small) { return small; });
  }
}

}  // namespace

void add_compare_ops(Table& table) {
  auto& ops = table.ops[static_cast<std::size_t>(Family::compare)];
  const Type signed_types[] = {of_integers<std::int16_t>("s16"), of_integers<std::int32_t>("s32"),
                               of_integers<std::int64_t>("s64")};
  const Type unsigned_types[] = {of_integers<std::uint16_t>("u16"),
                                 of_integers<std::uint32_t>("u32"),
                                 of_integers<std::uint64_t>("u64")};
  const Type bit_types[] = {of_integers<std::uint16_t>("b16"), of_integers<std::uint32_t>("b32"),
                            of_integers<std::uint64_t>("b64")};
  const Type real_types[] = {of_format("f32", f32, 'r', false), of_format("f32", f32, 'r', true),
                             of_format("f64", f64, 'd', false)};
  const Type half_types[] = {of_format("f16", f16, 'h', false),
                             of_format("bf16", bf16, 'h', false)};
  int turn = 0;
  const auto add = [&](const Type& type, const Comparison& c, bool set) {
    add_setp(ops, type, c, turn);
    if (set) add_set(ops, type, c, turn);
    ++turn;
  };
  for (const Comparison& c : ordered) {
    for (const Type& t : signed_types) add(t, c, true);
    for (const Type& t : unsigned_types) add(t, c, true);
    for (const Type& t : real_types) add(t, c, true);
    for (const Type& t : half_types) add(t, c, false);
  }
  for (const Comparison& c : unsigned_only)
    for (const Type& t : unsigned_types) add(t, c, true);
  for (const Comparison& c : of_reals) {
    for (const Type& t : real_types) add(t, c, true);
    for (const Type& t : half_types) add(t, c, false);
  }
  for (const Comparison* c : {&ordered[0], &ordered[1]})
    for (const Type& t : bit_types) add(t, *c, true);
  add_choices(ops);
  add_properties(ops);
}

}  // namespace fuzz
