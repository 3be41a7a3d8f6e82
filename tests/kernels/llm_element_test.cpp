// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The 8-bit floats against the list of values in their definition and a search for the nearest.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/llm/element.h"

namespace warpmeter {
namespace {

// Table 1 of arXiv:2209.05433.
TEST(E4m3, HasTheValuesOfItsDefinition) {
  EXPECT_EQ(e4m3_to_float(0x7e), 448);               // S.1111.110
  EXPECT_EQ(e4m3_to_float(0x08), 0x1p-6f);           // smallest normal number
  EXPECT_EQ(e4m3_to_float(0x07), 0.875f * 0x1p-6f);  // largest subnormal number
  EXPECT_EQ(e4m3_to_float(0x01), 0x1p-9f);           // smallest
  EXPECT_EQ(e4m3_to_float(0x38), 1);
  EXPECT_EQ(e4m3_to_float(0xb8), -1);
  EXPECT_TRUE(std::isnan(e4m3_to_float(0x7f)));
  EXPECT_TRUE(std::isnan(e4m3_to_float(0xff)));
}

// Of two neighbours the nearer one, of two equally near ones that with an even last bit.
std::uint8_t nearest(float value) {
  std::uint8_t best = 0;
  for (int bits = 1; bits <= 0x7e; ++bits) {
    const double now = std::abs(double(value) - e4m3_to_float(static_cast<std::uint8_t>(bits)));
    const double then = std::abs(double(value) - e4m3_to_float(best));
    if (now < then || (now == then && bits % 2 == 0)) best = static_cast<std::uint8_t>(bits);
  }
  return best;
}

TEST(E4m3, RoundsToTheNearest) {
  for (int exponent = -12; exponent <= 9; ++exponent)
    for (int step = 0; step < 64; ++step) {
      const float value = std::ldexp(1 + static_cast<float>(step) / 64, exponent);
      SCOPED_TRACE(value);
      EXPECT_EQ(float_to_e4m3(value), nearest(value));
      EXPECT_EQ(float_to_e4m3(-value), 0x80 | nearest(value));
    }
  EXPECT_EQ(float_to_e4m3(0), 0);
  EXPECT_EQ(float_to_e4m3(1e30f), 0x7e);
  EXPECT_EQ(float_to_e4m3(std::nanf("")), 0x7f);
}

}  // namespace
}  // namespace warpmeter
