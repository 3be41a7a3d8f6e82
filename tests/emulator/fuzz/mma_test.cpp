// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// mma.sync of every shape and type against sums in long double. The places of the elements are
// those of the PTX ISA's figures: with g = lane / 4 and t = lane % 4, a register of A holds
// elements of row g (or g + 8), one of B of column g, both from column or row t on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <ostream>
#include <random>

#include "tests/emulator/fuzz/exact.h"
#include "tests/emulator/fuzz/machine.h"

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

struct Case {
  int m, k;
  const char* a;
  const char* b;
  const char* sum;
  const char* modifiers = "";
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << fmt::format("m{}n8k{} {} {} {}{}", c.m, c.k, c.a, c.b, c.sum, c.modifiers);
}

int bits_of(std::string_view type) {
  return type == "f64"                                      ? 64
         : type == "tf32" || type == "f32" || type == "s32" ? 32
         : type == "f16" || type == "bf16"                  ? 16
                                                            : 8;
}

// The value of an element, and elements of moderate size at random.
long double value_of(std::string_view type, U64 bits) {
  if (type == "f64") return static_cast<long double>(std::bit_cast<double>(bits));
  if (type == "f32" || type == "tf32")
    return static_cast<long double>(std::bit_cast<float>(static_cast<U32>(bits)));
  if (type == "s32") return static_cast<std::int32_t>(bits);
  if (type == "s8") return static_cast<std::int8_t>(bits);
  if (type == "u8") return static_cast<std::uint8_t>(bits);
  if (type == "e4m3") return static_cast<long double>(fuzz::value_of({4, -8, 9, 8}, bits));
  if (type == "e5m2") return static_cast<long double>(fuzz::value_of({3, -15, 16, 8}, bits));
  return static_cast<long double>(fuzz::value_of(type == "f16" ? fuzz::f16 : fuzz::bf16, bits));
}
U64 some_bits(std::string_view type, std::mt19937_64& random) {
  const U64 r = random();
  const double x = (static_cast<double>(r >> 11) * 0x1p-53 - 0.5) * 8;
  if (type == "f64") return std::bit_cast<U64>(x);
  if (type == "f32") return std::bit_cast<U32>(static_cast<float>(x));
  if (type == "tf32") return std::bit_cast<U32>(static_cast<float>(x)) & 0xffffe000;
  if (type == "s32") return static_cast<U32>(r >> 8);
  if (type == "e4m3") return (r & 0xbf);  // neither large nor NaN
  if (type == "e5m2") return (r & 0xbf);
  if (bits_of(type) == 8) return r & 0xff;
  return fuzz::from_double(type == "f16" ? fuzz::f16 : fuzz::bf16, x, fuzz::Round::nearest);
}

class Fragments : public testing::TestWithParam<Case> {};

std::string list(const char* name, int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i ? ", " : "", name, first + i);
  return text + "}";
}

TEST_P(Fragments, MultiplyAsInLongDouble) {
  const Case c = GetParam();
  const int width = bits_of(c.a), per = width == 64 ? 1 : 32 / width;
  const int sum_width = bits_of(c.sum), sum_per = sum_width == 16 ? 2 : 1;
  const int a_count = c.m * c.k / 32 / per, b_count = 8 * c.k / 32 / per;
  const int c_count = c.m * 8 / 32 / sum_per;
  const bool wide = width == 64;
  const char* reg = wide ? "d" : "r";
  const int all = a_count + b_count + c_count;
  std::string text = fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry fuzz(.param .u64 in, .param .u64 out)
{{
.reg .b32 %r<64>, %t;
.reg .b64 %d<64>, %in, %out;
mov.u32 %t, %tid.x;
ld.param.u64 %in, [in]; mad.wide.u32 %in, %t, {0}, %in;
ld.param.u64 %out, [out]; mad.wide.u32 %out, %t, {0}, %out;
)",
                                 8 * all);
  for (int i = 0; i < all; ++i)
    text += fmt::format("ld.global.b{} %{}{}, [%in+{}];\n", wide ? 64 : 32, reg, i, 8 * i);
  text += fmt::format("mma.sync.aligned.m{}n8k{}.row.col{}.{}.{}.{}.{} {}, {}, {}, {};\n", c.m, c.k,
                      c.modifiers, c.sum, c.a, c.b, c.sum, list(reg, all, c_count),
                      list(reg, 0, a_count), list(reg, a_count, b_count),
                      list(reg, a_count + b_count, c_count));
  for (int i = 0; i < c_count; ++i)
    text += fmt::format("st.global.b{} [%out+{}], %{}{};\n", wide ? 64 : 32, 8 * i, reg, all + i);
  text += "ret;\n}\n";

  std::mt19937_64 random(static_cast<U64>(c.k * 100 + c.m) + std::string(c.a).size());
  std::vector<std::vector<U64>> a(16, std::vector<U64>(64)), b(64, std::vector<U64>(8)),
      sum(16, std::vector<U64>(8));
  for (auto& row : a)
    for (U64& x : row) x = some_bits(c.a, random);
  for (auto& row : b)
    for (U64& x : row) x = some_bits(c.b, random);
  for (auto& row : sum)
    for (U64& x : row) x = some_bits(c.sum, random);
  std::vector<U64> in(static_cast<std::size_t>(32 * all)), out(in.size());
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    U64* words = &in[static_cast<std::size_t>(lane * all)];
    const auto put = [&](int word, int place, int bits, U64 x) {
      words[word] |= x << (place * bits);
    };
    for (int i = 0; i < a_count * per; ++i) {
      const int r = i / per, e = i % per;
      const int row = c.m == 8 ? g : g + 8 * (r % 2), block = c.m == 8 ? r : r / 2;
      put(r, e, width,
          a[static_cast<std::size_t>(row)]
           [static_cast<std::size_t>(t * per + e + block * 4 * per)]);
    }
    for (int i = 0; i < b_count * per; ++i) {
      const int r = i / per, e = i % per;
      put(a_count + r, e, width,
          b[static_cast<std::size_t>(t * per + e + r * 4 * per)][static_cast<std::size_t>(g)]);
    }
    for (int i = 0; i < c_count * sum_per; ++i)
      put(a_count + b_count + i / sum_per, i % sum_per, sum_width,
          sum[static_cast<std::size_t>(g + 8 * (i / 2))][static_cast<std::size_t>(2 * t + i % 2)]);
  }
  fuzz::Machine machine(EMULATOR_CHIPS "/hopper_like.json");
  machine.run(text, 1, 32, in, out);

  const bool whole = std::string_view(c.sum) == "s32";
  const bool saturates = std::string_view(c.modifiers) == ".satfinite";
  const long double unit = c.sum[1] == '6' ? 0x1p-52L : c.sum[1] == '3' ? 0x1p-23L : 0x1p-10L;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < c_count * sum_per; ++i) {
      const auto row = static_cast<std::size_t>(lane / 4 + 8 * (i / 2));
      const auto column = static_cast<std::size_t>(2 * (lane % 4) + i % 2);
      long double want = value_of(c.sum, sum[row][column]), size = std::fabs(want);
      for (std::size_t k = 0; k < static_cast<std::size_t>(c.k); ++k) {
        const long double product = value_of(c.a, a[row][k]) * value_of(c.b, b[k][column]);
        want += product;
        size += std::fabs(product);
      }
      const U64 word = out[static_cast<std::size_t>(lane * all + i / sum_per)];
      const U64 bits = word >> (i % sum_per * sum_width);
      if (whole) {
        const long double limit = 0x1p31L;
        if (saturates) want = std::fmin(std::fmax(want, -limit), limit - 1);
        ASSERT_EQ(static_cast<U32>(bits), static_cast<U32>(static_cast<std::int64_t>(want)));
      } else {
        // One rounding to the sum's type, and those of a sum in double.
        const long double got = value_of(c.sum, sum_width == 16 ? bits & 0xffff : bits);
        ASSERT_LE(std::fabs(got - want), unit * std::fabs(want) + 0x1p-49L * size)
            << "row " << row << ", column " << column;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Dense, Fragments,
    testing::Values(Case{16, 8, "f16", "f16", "f32"}, Case{16, 16, "f16", "f16", "f32"},
                    Case{16, 8, "f16", "f16", "f16"}, Case{16, 16, "f16", "f16", "f16"},
                    Case{16, 8, "bf16", "bf16", "f32"}, Case{16, 16, "bf16", "bf16", "f32"},
                    Case{16, 4, "tf32", "tf32", "f32"}, Case{16, 8, "tf32", "tf32", "f32"},
                    Case{8, 4, "f64", "f64", "f64"}, Case{16, 4, "f64", "f64", "f64"},
                    Case{16, 8, "f64", "f64", "f64"}, Case{16, 16, "f64", "f64", "f64"},
                    Case{8, 16, "s8", "s8", "s32"}, Case{8, 16, "u8", "s8", "s32"},
                    Case{16, 16, "s8", "s8", "s32"}, Case{16, 16, "u8", "u8", "s32"},
                    Case{16, 32, "s8", "s8", "s32"}, Case{16, 32, "s8", "u8", "s32"},
                    Case{16, 32, "u8", "s8", "s32"}, Case{16, 32, "u8", "u8", "s32"},
                    Case{16, 32, "u8", "u8", "s32", ".satfinite"},
                    Case{16, 32, "e4m3", "e4m3", "f32"}, Case{16, 32, "e4m3", "e5m2", "f32"},
                    Case{16, 32, "e5m2", "e4m3", "f32"}, Case{16, 32, "e5m2", "e5m2", "f32"}));

}  // namespace
