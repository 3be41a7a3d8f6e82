// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Instructions with one small operand, on all its values; conversions to small floats, around all
// their values. The oracle is the fuzzer's; a table by hand checks the oracle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/emulator/fuzz/exact.h"
#include "tests/emulator/fuzz/machine.h"
#include "tests/emulator/fuzz/ops.h"

namespace {

using fuzz::Op;
using fuzz::Round;
using U64 = std::uint64_t;

TEST(Exact, AgreesWithValuesByHand) {
  struct Row {
    const fuzz::Format& format;
    double x;
    U64 nearest, zero, down, up;
  };
  const double tiny = std::ldexp(1, -24);
  const Row rows[] = {
      {fuzz::f16, 1, 0x3c00, 0x3c00, 0x3c00, 0x3c00},
      {fuzz::f16, -2, 0xc000, 0xc000, 0xc000, 0xc000},
      {fuzz::f16, 65504, 0x7bff, 0x7bff, 0x7bff, 0x7bff},
      {fuzz::f16, 65519, 0x7bff, 0x7bff, 0x7bff, 0x7c00},
      {fuzz::f16, 65520, 0x7c00, 0x7bff, 0x7bff, 0x7c00},  // the middle of the last and infinity
      {fuzz::f16, -1e6, 0xfc00, 0xfbff, 0xfc00, 0xfbff},
      {fuzz::f16, 2049, 0x6800, 0x6800, 0x6800, 0x6801},  // ties go to even
      {fuzz::f16, 2051, 0x6802, 0x6801, 0x6801, 0x6802},
      {fuzz::f16, tiny, 0x0001, 0x0001, 0x0001, 0x0001},
      {fuzz::f16, tiny / 2, 0x0000, 0x0000, 0x0000, 0x0001},
      {fuzz::f16, -tiny * 1.5, 0x8002, 0x8001, 0x8002, 0x8001},
      {fuzz::f16, 1023.5 * tiny, 0x0400, 0x03ff, 0x03ff, 0x0400},  // subnormal to normal
      {fuzz::bf16, 1.00390625, 0x3f80, 0x3f80, 0x3f80, 0x3f81},    // 1 + 2^-8
      {fuzz::bf16, 1.01171875, 0x3f82, 0x3f81, 0x3f81, 0x3f82},    // 1 + 3 * 2^-8
      {fuzz::bf16, 3.4e38, 0x7f80, 0x7f7f, 0x7f7f, 0x7f80},
      {fuzz::bf16, -0.0, 0x8000, 0x8000, 0x8000, 0x8000},
      {fuzz::f32, 16777217, 0x4b800000, 0x4b800000, 0x4b800000, 0x4b800001},
      {fuzz::f32, std::ldexp(1, -150), 0, 0, 0, 1}};
  for (const Row& row : rows) {
    EXPECT_EQ(fuzz::from_double(row.format, row.x, Round::nearest), row.nearest) << row.x;
    EXPECT_EQ(fuzz::from_double(row.format, row.x, Round::zero), row.zero) << row.x;
    EXPECT_EQ(fuzz::from_double(row.format, row.x, Round::down), row.down) << row.x;
    EXPECT_EQ(fuzz::from_double(row.format, row.x, Round::up), row.up) << row.x;
  }
  const auto op = [](const std::string& begin) -> const Op& {
    for (const auto& family : fuzz::table().ops)
      for (const Op& one : family)
        if (one.text.starts_with(begin + " ")) return one;
    ADD_FAILURE() << begin;
    static const Op none;
    return none;
  };
  const auto result = [&](const std::string& name, U64 a, U64 b = 0, U64 c = 0) {
    fuzz::Results out{};
    bool carry = false;
    op(name).evaluate({a, b, c}, out, carry);
    return out[0];
  };
  const auto f32 = [](float x) { return U64{std::bit_cast<std::uint32_t>(x)}; };
  EXPECT_EQ(result("cvt.rn.satfinite.e4m3x2.f32", f32(448), f32(1)), 0x7e38u);
  EXPECT_EQ(result("cvt.rn.satfinite.e4m3x2.f32", f32(1e9f), f32(-465)), 0x7efeu);
  EXPECT_EQ(result("cvt.rn.satfinite.e5m2x2.f32", f32(57344), f32(-INFINITY)), 0x7bfbu);
  EXPECT_EQ(result("cvt.rn.satfinite.e5m2x2.f32", f32(1.125f), f32(NAN)), 0x3c7fu);
  EXPECT_EQ(result("cvt.rn.f16x2.e4m3x2", 0x7f08), 0x7fff2400u);  // NaN, 2^-6
  EXPECT_EQ(result("cvt.rna.tf32.f32", 0x3f801000), 0x3f802000u);
  EXPECT_EQ(result("cvt.rn.tf32.f32", 0x3f801000), 0x3f800000u);
  EXPECT_EQ(result("fma.rn.f32", f32(1 + 0x1p-12f), f32(1 + 0x1p-12f), f32(-1)),
            f32(0x1p-11f + 0x1p-24f));
  EXPECT_EQ(result("cvt.rni.s32.f32", f32(2.5f)), 2u);
  EXPECT_EQ(result("cvt.rni.s32.f32", f32(-3.5f)) & 0xffffffff, 0xfffffffcu);
}

std::string name_of(const Op& op) { return op.text.substr(0, op.text.find(' ')); }

// Compares `ops`, whose one source has the class `source`, on all of `inputs`.
void compare(const std::vector<Op>& ops, char source, const std::vector<U64>& inputs) {
  static fuzz::Machine machine(EMULATOR_CHIPS "/tiny.json");
  constexpr std::size_t most = std::size_t{1} << 17;  // inputs of a launch
  constexpr std::size_t together = 8;                 // ops of a launch
  for (std::size_t first = 0; first < ops.size(); first += together) {
    const std::size_t count = std::min(together, ops.size() - first);
    std::string body;
    for (std::size_t i = 0; i < count; ++i) {
      const Op& op = ops[first + i];
      std::string text = op.text;
      for (std::size_t at; (at = text.find('$')) != std::string::npos;)
        text.replace(at, 2,
                     fmt::format("%{}{}", text[at + 1] == '0' ? op.results[0] : source,
                                 text[at + 1] == '0' ? 0 : 1));
      body += fmt::format("mov.b64 %d0, 0; {}\n", text);
      if (op.results == "h") body += "cvt.u64.u16 %d0, %h0;";
      if (op.results == "r") body += "cvt.u64.u32 %d0, %r0;";
      body += fmt::format(" st.global.u64 [%out+{}], %d0;\n", 8 * i);
    }
    const std::string ptx = fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry fuzz(.param .u64 in, .param .u64 out)
{{
.reg .b16 %h<2>, %ht, %hu;
.reg .b32 %r<2>, %i, %n, %t;
.reg .b64 %d<2>, %in, %out;
.reg .pred %pt;
mov.u32 %i, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %ctaid.x;
mad.lo.u32 %i, %t, %n, %i;
ld.param.u64 %in, [in]; mad.wide.u32 %in, %i, 8, %in;
ld.param.u64 %out, [out]; mad.wide.u32 %out, %i, {}, %out;
ld.global.u64 %d1, [%in]; cvt.u32.u64 %r1, %d1; cvt.u16.u64 %h1, %d1;
{}ret;
}})",
                                        8 * together, body);
    for (std::size_t from = 0; from < inputs.size(); from += most) {
      const std::size_t n = std::min(most, inputs.size() - from);
      const std::vector<U64> in(inputs.begin() + static_cast<std::ptrdiff_t>(from),
                                inputs.begin() + static_cast<std::ptrdiff_t>(from + n));
      std::vector<U64> out(n * together);
      machine.run(ptx, static_cast<std::uint32_t>(n / 256), 256, in, out);
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = 0; i < count; ++i) {
          fuzz::Results want{};
          bool carry = false;
          const Op& op = ops[first + i];
          op.evaluate({in[k], in[k]}, want, carry);
          const U64 kept = op.results == "h"   ? want[0] & 0xffff
                           : op.results == "r" ? want[0] & 0xffffffff
                                               : want[0];
          ASSERT_EQ(out[k * together + i], kept)
              << name_of(op) << " of " << fmt::format("{:#x}", in[k]);
        }
      }
    }
  }
}

// The ops for which `wanted(name)` holds, with sources of one class only; all of them get the same
// value.
template <typename F>
std::vector<Op> ops_where(char source, F&& wanted) {
  std::vector<Op> result;
  for (const auto& family : fuzz::table().ops) {
    for (const Op& op : family) {
      const bool same = op.sources.find_first_not_of(source) == std::string::npos;
      if (same && op.sources.size() <= 2 && op.results.size() == 1 && op.results != "p" &&
          wanted(name_of(op)))
        result.push_back(op);
    }
  }
  return result;
}

TEST(Tables, AllHalvesAsTheOnlySource) {
  std::vector<U64> all(1 << 16);
  for (U64 i = 0; i < all.size(); ++i) all[i] = i;
  const auto ops = ops_where('h', [](const std::string& name) {
    return name.ends_with("f16") || name.ends_with("e4m3x2") || name.ends_with("e5m2x2");
  });
  ASSERT_GT(ops.size(), 100u);
  compare(ops, 'h', all);
}

// Every value, the middle between it and the next one, and what lies beside that middle.
std::vector<U64> around(const fuzz::Format& f) {
  std::vector<U64> result;
  for (U64 bits = 0; bits < (1 << 16); ++bits) {
    const double x = fuzz::value_of(f, bits), next = fuzz::value_of(f, bits + 1);
    const auto middle = std::bit_cast<std::uint32_t>(static_cast<float>((x + next) / 2));
    result.insert(result.end(), {std::bit_cast<std::uint32_t>(static_cast<float>(x)), middle,
                                 middle - 1, middle + 1});
  }
  return result;
}

TEST(Tables, FloatsAroundAllF16) {
  compare(ops_where('r',
                    [](const std::string& name) {
                      return name.ends_with(".f16.f32") || name.ends_with(".f16x2.f32");
                    }),
          'r', around(fuzz::f16));
}
TEST(Tables, FloatsAroundAllBf16) {
  compare(ops_where('r',
                    [](const std::string& name) {
                      return name.ends_with("bf16.f32") || name.ends_with("bf16x2.f32");
                    }),
          'r', around(fuzz::bf16));
}
// All halves are between and beyond the 8-bit floats, and hit every tie of theirs.
TEST(Tables, HalvesToEightBitFloats) {
  std::vector<U64> pairs, floats;
  for (U64 i = 0; i < (1 << 16); ++i) {
    pairs.push_back(i << 16 | (i ^ 0x5a5a));
    floats.push_back(
        std::bit_cast<std::uint32_t>(static_cast<float>(fuzz::value_of(fuzz::f16, i))));
  }
  const auto narrow = [](const char* from) {
    return ops_where('r', [from](const std::string& name) {
      return name.find("satfinite") != std::string::npos && name.ends_with(from);
    });
  };
  ASSERT_EQ(narrow(".f16x2").size(), 4u);
  ASSERT_EQ(narrow(".f32").size(), 4u);
  compare(narrow(".f16x2"), 'r', pairs);
  compare(narrow(".f32"), 'r', floats);
}

}  // namespace
