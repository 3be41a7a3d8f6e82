// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// mma.sp against sums in double over the whole rows, zeros included.
#include <random>

#include "tests/emulator/managed.h"
#include "tests/emulator/ptx_program.h"
#include "tests/emulator/wgmma_case.h"

namespace {

using U32 = std::uint32_t;
using std::to_string;

struct Case {
  std::string d, a, b;
  std::size_t k;
  std::size_t selector = 0;
  std::size_t bits() const { return WgmmaCase::bits_of(a); }
  std::size_t a_registers() const { return 16 * k / 2 * bits() / 1024; }
  std::size_t b_registers() const { return 8 * k * bits() / 1024; }
  std::size_t d_registers() const { return d == "f16" ? 2 : 4; }
};

std::string list(const std::string& name, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + (name + to_string(i));
  return text + "}";
}

// p0: 16 words for each lane: a, b, d, metadata at 0, 4, 8 and 12.
std::string kernel_of(const Case& c) {
  std::string text = ".reg .b32 %t, %a<4>, %b<4>, %m;\n.reg ." +
                     std::string(c.d == "f32" ? "f32" : "b32") +
                     " %d<4>;\n.reg .b64 %p, %off;\nmov.u32 %t, %tid.x;\nld.param.u64 %p, [p0];\n"
                     "mul.wide.u32 %off, %t, 64;\nadd.u64 %p, %p, %off;\n";
  for (int i = 0; i < 4; ++i) {
    const std::string n = to_string(i);
    text += "ld.global.b32 %a" + n + ", [%p+" + to_string(4 * i) + "];\nld.global.b32 %b" + n +
            ", [%p+" + to_string(16 + 4 * i) + "];\nld.global.b32 %d" + n + ", [%p+" +
            to_string(32 + 4 * i) + "];\n";
  }
  text += "ld.global.b32 %m, [%p+48];\nmma.sp::ordered_metadata.sync.aligned.m16n8k" +
          to_string(c.k) + ".row.col." + c.d + "." + c.a + "." + c.b + "." + c.d + " " +
          list("%d", c.d_registers()) + ", " + list("%a", c.a_registers()) + ", " +
          list("%b", c.b_registers()) + ", " + list("%d", c.d_registers()) + ", %m, " +
          to_string(c.selector) + ";\n";
  for (int i = 0; i < 4; ++i) {
    text += "st.global.b32 [%p+" + to_string(32 + 4 * i) + "], %d" + to_string(i) + ";\n";
  }
  return text;
}

double sum_of(const Case& c, U32 word, std::size_t half) {
  if (c.d == "s32") return static_cast<double>(static_cast<std::int32_t>(word));
  if (c.d == "f32") return static_cast<double>(std::bit_cast<float>(word));
  return static_cast<double>(
      std::bit_cast<_Float16>(static_cast<std::uint16_t>(word >> (16 * half))));
}

class SparseProducts : public testing::TestWithParam<Case> {};
void PrintTo(const Case& c, std::ostream* out) { *out << c.a << " k" << c.k << " " << c.selector; }

TEST_P(SparseProducts, EqualSumsOverWholeRows) {
  const Case c = GetParam();
  std::mt19937 random(static_cast<unsigned>(c.k + c.bits()));
  Managed<U32> words(32 * 16);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0;
  const std::size_t each = 32 / c.bits();
  const auto value = [&random] { return static_cast<int>(random() % 7) - 3; };
  int left[16][64] = {}, right[64][8] = {};
  const std::size_t group = c.bits() == 32 ? 2 : 4, kept = group / 2;
  for (std::size_t row = 0; row < 16; ++row) {
    const std::size_t quad = 4 * (row % 8);
    for (std::size_t chunk = 0; chunk < c.k / group; ++chunk) {
      // Two different columns of four, in order, or one of two.
      const std::size_t first = random() % (c.bits() == 32 ? 2 : 3);
      const std::size_t second = first + 1 + random() % (3 - std::min<std::size_t>(first, 2));
      const std::size_t columns[] = {first, second};
      U32 code = c.bits() == 32 ? (first == 0 ? 4 : 14) : static_cast<U32>(first | second << 2);
      // Where the manual's figures have the four bits of this chunk.
      std::size_t lane = 0, bit = 0;
      if (c.bits() == 8) {
        lane = quad + 2 * (c.selector + chunk / 8) + row / 8;
        bit = 4 * (chunk % 8);
      } else {
        const std::size_t step = chunk / 4;
        lane = quad + (c.k * c.bits() == 512 ? 2 * c.selector + step : c.selector);
        bit = 4 * (chunk % 4) + 16 * (row / 8);
      }
      words[16 * lane + 12] |= code << bit;
      for (std::size_t n = 0; n < kept; ++n) {
        const int x = value();
        left[row][chunk * group + columns[n]] = x;
        const std::size_t column = chunk * kept + n;  // in the half that is stored
        const std::size_t at = quad + column / each % 4;
        const std::size_t reg = 2 * (column / (4 * each)) + row / 8;
        words[16 * at + reg] |= encode_element(c.a, x) << (c.bits() * (column % each) % 32);
      }
    }
  }
  for (std::size_t k = 0; k < c.k; ++k) {
    for (std::size_t n = 0; n < 8; ++n) {
      right[k][n] = value();
      words[16 * (4 * n + k / each % 4) + 4 + k / (4 * each)] |= encode_element(c.b, right[k][n])
                                                                 << (c.bits() * (k % each) % 32);
    }
  }
  const std::string target = c.d == "f16" && c.bits() == 8 ? "sm_120a" : "sm_90a";
  const PtxProgram program(target, 1, kernel_of(c));
  ASSERT_EQ(program.run(1, 32, {words.get()}), cudaSuccess);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      double want = 0;
      for (std::size_t k = 0; k < c.k; ++k) want += left[row][k] * right[k][column];
      const U32 word = words[16 * lane + 8 + (c.d == "f16" ? i / 2 : i)];
      ASSERT_EQ(sum_of(c, word, i % 2), want) << lane << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, SparseProducts,
    testing::Values(Case{"f32", "f16", "f16", 16, 0}, Case{"f32", "f16", "f16", 16, 3},
                    Case{"f32", "f16", "f16", 32, 0}, Case{"f16", "f16", "f16", 32, 1},
                    Case{"f32", "bf16", "bf16", 32, 1}, Case{"f32", "tf32", "tf32", 8, 2},
                    Case{"f32", "tf32", "tf32", 16, 1}, Case{"s32", "s8", "s8", 32, 1},
                    Case{"s32", "s8", "s8", 64, 0}, Case{"f32", "e4m3", "e5m2", 64, 0},
                    Case{"f16", "e5m2", "e4m3", 64, 0}));

TEST(Sparse, MetadataThatNameAnElementTwiceAreAnError) {
  Managed<U32> words(32 * 16);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0;
  const PtxProgram program("sm_90a", 1, kernel_of({"f32", "f16", "f16", 16, 0}));
  EXPECT_EQ(program.run(1, 32, {words.get()}), cudaErrorIllegalInstruction);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
}

}  // namespace
