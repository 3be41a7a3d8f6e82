// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/fragments.h"

#include <gtest/gtest.h>

namespace warpmeter {
namespace {

// The PTX manual's formulas for mma.m16n8k16 with .bf16 operands, element by element.
int row_a(int lane, int i) { return i < 2 || (4 <= i && i < 6) ? lane >> 2 : (lane >> 2) + 8; }
int column_a(int lane, int i) { return (lane % 4) * 2 + (i & 1) + (i < 4 ? 0 : 8); }
int row_b(int lane, int i) { return (lane % 4) * 2 + (i & 1) + (i < 2 ? 0 : 8); }
int column_b(int lane) { return lane >> 2; }
int row_c(int lane, int i) { return i < 2 ? lane >> 2 : (lane >> 2) + 8; }
int column_c(int lane, int i) { return (lane % 4) * 2 + (i & 1); }

float element(const std::vector<std::uint32_t>& words, std::size_t index) {
  return from_bf16(static_cast<std::uint16_t>(words[index / 2] >> (index % 2 * 16)));
}

TEST(Fragments, FollowThePtxManual) {
  MatrixA a{};
  MatrixB b{};
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(i);  // exact in bf16 up to 256
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i);
  const auto words_a = fragments_a(a);
  const auto words_b = fragments_b(b);
  ASSERT_EQ(words_a.size(), 128u);
  ASSERT_EQ(words_b.size(), 64u);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(element(words_a, lane * 8 + i), row_a(lane, i) * 16 + column_a(lane, i));
    }
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(element(words_b, lane * 4 + i), row_b(lane, i) * 8 + column_b(lane));
    }
  }
}

TEST(Fragments, OfTheResultFollowThePtxManual) {
  std::vector<float> fragments(128);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      fragments[lane * 4 + i] = static_cast<float>(row_c(lane, i) * 8 + column_c(lane, i));
    }
  }
  const MatrixC c = matrix_c(fragments.data());
  for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(c[i], static_cast<float>(i));
}

TEST(Bf16, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(to_bf16(-1.5f), 0xbfc0);
  EXPECT_EQ(from_bf16(0x4049), 3.140625f);
}

}  // namespace
}  // namespace warpmeter
