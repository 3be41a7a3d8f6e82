// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Integer arithmetic as the PTX ISA defines it, in 128-bit integers.
#include <algorithm>
#include <limits>

#include "tests/emulator/fuzz/ops.h"

namespace fuzz {
namespace {

using Wide = __int128;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I16 = std::int16_t;
using I32 = std::int32_t;
using I64 = std::int64_t;

template <typename T>
Wide wide(T x) {
  return static_cast<Wide>(x);
}
template <typename T>
T cut(Wide x) {
  return static_cast<T>(static_cast<unsigned __int128>(x));
}
// Sums and products of 64-bit numbers wrap at 128 bits, of which fewer are kept.
template <typename T>
T product(T a, T b) {
  return static_cast<T>(static_cast<unsigned __int128>(wide(a)) *
                        static_cast<unsigned __int128>(wide(b)));
}
template <typename T>
T saturated(Wide x) {
  return static_cast<T>(
      std::clamp<Wide>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
// The product's upper half, also of 64-bit numbers, whose product fits into 128 bits.
template <typename T>
T high(T a, T b) {
  if constexpr (std::is_same_v<T, U64>) {
    return static_cast<T>((static_cast<unsigned __int128>(a) * b) >> 64);
  } else {
    return cut<T>((wide(a) * wide(b)) >> (8 * sizeof(T)));
  }
}

template <typename T>
void of_type(std::vector<Op>& ops, const std::string& t) {
  const auto add = [&](const std::string& name, auto f) {
    ops.push_back(with_immediates(name + "." + t, f));
  };
  add("add", [](T a, T b) -> T { return cut<T>(wide(a) + wide(b)); });
  add("sub", [](T a, T b) -> T { return cut<T>(wide(a) - wide(b)); });
  add("mul.lo", [](T a, T b) -> T { return product(a, b); });
  add("mul.hi", [](T a, T b) -> T { return high(a, b); });
  add("mad.lo", [](T a, T b, T c) -> T { return cut<T>(wide(product(a, b)) + wide(c)); });
  add("mad.hi", [](T a, T b, T c) -> T { return cut<T>(wide(high(a, b)) + wide(c)); });
  add("min", [](T a, T b) -> T { return a < b ? a : b; });
  add("max", [](T a, T b) -> T { return a > b ? a : b; });
  add("sad", [](T a, T b, T c) -> T {
    return cut<T>(wide(c) + (a < b ? wide(b) - wide(a) : wide(a) - wide(b)));
  });
  // Division by zero has no defined result: the divisor is made odd in a register of its own.
  const std::string scratch = sizeof(T) == 2 ? "%ht" : sizeof(T) == 4 ? "%rt" : "%dt";
  for (const bool divides : {true, false}) {
    Op op = make_op("", [divides](T a, T b) -> T {
      const Wide divisor = wide(static_cast<T>(b | 1));
      return cut<T>(divides ? wide(a) / divisor : wide(a) % divisor);
    });
    op.text = "or.b" + std::to_string(8 * sizeof(T)) + " " + scratch + ", $2, 1; " +
              (divides ? "div." : "rem.") + t + " $0, $1, " + scratch + ";";
    op.guardable = false;
    ops.push_back(op);
  }
  if constexpr (std::is_signed_v<T>) {
    ops.push_back(make_op("neg." + t, [](T a) -> T { return cut<T>(-wide(a)); }));
    ops.push_back(make_op("abs." + t, [](T a) -> T { return cut<T>(a < 0 ? -wide(a) : wide(a)); }));
  }
}

template <typename T, typename Double>
void widening(std::vector<Op>& ops, const std::string& t) {
  ops.push_back(with_immediates("mul.wide." + t,
                                [](T a, T b) -> Double { return cut<Double>(wide(a) * wide(b)); }));
  ops.push_back(make_op("mad.wide." + t, [](T a, T b, Double c) -> Double {
    return cut<Double>(wide(a) * wide(b) + wide(c));
  }));
}

Wide low24(U32 x, bool sign) {
  const Wide value = x & 0xffffff;
  return sign && (x >> 23 & 1) != 0 ? value - (1 << 24) : value;
}

void add_products_of_24_bits(std::vector<Op>& ops) {
  for (const bool sign : {false, true}) {
    const std::string t = sign ? ".s32" : ".u32";
    ops.push_back(with_immediates("mul24.lo" + t, [sign](U32 a, U32 b) -> U32 {
      return cut<U32>(low24(a, sign) * low24(b, sign));
    }));
    ops.push_back(with_immediates("mad24.lo" + t, [sign](U32 a, U32 b, U32 c) -> U32 {
      return cut<U32>(low24(a, sign) * low24(b, sign) + c);
    }));
    ops.push_back(with_immediates("mul24.hi" + t, [sign](U32 a, U32 b) -> U32 {
      return cut<U32>((low24(a, sign) * low24(b, sign)) >> 16);
    }));
    ops.push_back(with_immediates("mad24.hi" + t, [sign](U32 a, U32 b, U32 c) -> U32 {
      return cut<U32>(((low24(a, sign) * low24(b, sign)) >> 16) + c);
    }));
  }
}

Wide byte_of(U32 x, int n, bool sign) {
  const U32 byte = x >> (8 * n) & 0xff;
  return sign && byte >= 128 ? Wide{byte} - 256 : Wide{byte};
}
Wide half_of(U32 x, int n, bool sign) {
  const U32 half = x >> (16 * n) & 0xffff;
  return sign && half >= 32768 ? Wide{half} - 65536 : Wide{half};
}

void add_dot_products(std::vector<Op>& ops) {
  for (const bool sa : {false, true}) {
    for (const bool sb : {false, true}) {
      const std::string t = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      ops.push_back(with_immediates("dp4a" + t, [sa, sb](U32 a, U32 b, U32 c) -> U32 {
        Wide sum = c;
        for (int n = 0; n < 4; ++n) sum += byte_of(a, n, sa) * byte_of(b, n, sb);
        return cut<U32>(sum);
      }));
      for (const int upper : {0, 2}) {
        ops.push_back(with_immediates((upper ? "dp2a.hi" : "dp2a.lo") + t,
                                      [sa, sb, upper](U32 a, U32 b, U32 c) -> U32 {
                                        Wide sum = c;
                                        for (int n = 0; n < 2; ++n)
                                          sum += half_of(a, n, sa) * byte_of(b, n + upper, sb);
                                        return cut<U32>(sum);
                                      }));
      }
    }
  }
}

// a + b + flag, or a - b - flag; the flag is the carry out of the top or the borrow.
template <typename T>
Op carry_sum(const std::string& text, bool subtracts, bool reads, bool writes) {
  Op op = make_op(text, [](T a, T b) -> T { return static_cast<T>(a + b); });
  op.guardable = false;
  op.evaluate = [=](const Sources& in, Results& out, bool& carry) {
    const Wide flag = reads && carry ? 1 : 0;
    const Wide a = wide(static_cast<T>(in[0])), b = wide(static_cast<T>(in[1]));
    const Wide sum = subtracts ? a - b - flag : a + b + flag;
    out[0] = cut<T>(sum);
    if (writes) carry = sum < 0 || sum > wide(std::numeric_limits<T>::max());
  };
  return op;
}
template <typename T, typename S>
Op carry_product(const std::string& text, bool high_part, bool reads, bool writes) {
  Op op = make_op(text, [](T a, T b, T c) -> T { return static_cast<T>(a + b + c); });
  op.guardable = false;
  op.evaluate = [=](const Sources& in, Results& out, bool& carry) {
    const S a = static_cast<S>(in[0]), b = static_cast<S>(in[1]);
    const T part = high_part ? static_cast<T>(high(a, b)) : static_cast<T>(in[0] * in[1]);
    const Wide sum = wide(part) + wide(static_cast<T>(in[2])) + (reads && carry ? 1 : 0);
    out[0] = cut<T>(sum);
    if (writes) carry = sum > wide(std::numeric_limits<T>::max());
  };
  return op;
}

template <typename T, typename S>
void carry_ops(Table& table, const std::string& t) {
  table.chain_heads.push_back(carry_sum<T>("add.cc." + t, false, false, true));
  table.chain_heads.push_back(carry_sum<T>("sub.cc." + t, true, false, true));
  table.chain_links.push_back(carry_sum<T>("addc.cc." + t, false, true, true));
  table.chain_links.push_back(carry_sum<T>("subc.cc." + t, true, true, true));
  table.chain_ends.push_back(carry_sum<T>("addc." + t, false, true, false));
  table.chain_ends.push_back(carry_sum<T>("subc." + t, true, true, false));
  for (const bool upper : {false, true}) {
    const std::string part = upper ? ".hi" : ".lo";
    table.chain_heads.push_back(carry_product<T, S>("mad" + part + ".cc." + t, upper, false, true));
    table.chain_links.push_back(carry_product<T, S>("madc" + part + ".cc." + t, upper, true, true));
    table.chain_ends.push_back(carry_product<T, S>("madc" + part + "." + t, upper, true, false));
  }
}

}  // namespace

void add_integer_ops(Table& table) {
  auto& ops = table.ops[static_cast<std::size_t>(Family::integer)];
  of_type<U16>(ops, "u16");
  of_type<I16>(ops, "s16");
  of_type<U32>(ops, "u32");
  of_type<I32>(ops, "s32");
  of_type<U64>(ops, "u64");
  of_type<I64>(ops, "s64");
  widening<U16, U32>(ops, "u16");
  widening<I16, I32>(ops, "s16");
  widening<U32, U64>(ops, "u32");
  widening<I32, I64>(ops, "s32");
  const auto add = [&](const std::string& name, auto f) {
    ops.push_back(with_immediates(name, f));
  };
  add("add.sat.s32", [](I32 a, I32 b) -> I32 { return saturated<I32>(wide(a) + wide(b)); });
  add("sub.sat.s32", [](I32 a, I32 b) -> I32 { return saturated<I32>(wide(a) - wide(b)); });
  add("mad.hi.sat.s32",
      [](I32 a, I32 b, I32 c) -> I32 { return saturated<I32>(wide(high(a, b)) + wide(c)); });
  add("min.relu.s32", [](I32 a, I32 b) -> I32 { return std::max(0, std::min(a, b)); });
  add("max.relu.s32", [](I32 a, I32 b) -> I32 { return std::max({0, a, b}); });
  add_products_of_24_bits(ops);
  add_dot_products(ops);
}

void add_carry_ops(Table& table) {
  carry_ops<U32, U32>(table, "u32");
  carry_ops<U32, I32>(table, "s32");
  carry_ops<U64, U64>(table, "u64");
  carry_ops<U64, I64>(table, "s64");
}

}  // namespace fuzz
