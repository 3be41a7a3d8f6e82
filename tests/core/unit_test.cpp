// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/unit.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace warpmeter {
namespace {

TEST(Unit, NamesReadBack) {
  for (int i = 0; i <= static_cast<int>(Unit::kelvin); ++i) {
    const Unit unit = static_cast<Unit>(i);
    EXPECT_EQ(parse_unit(to_string(unit)), unit);
  }
}

TEST(Unit, UnknownTextIsAnError) {
  EXPECT_THROW(parse_unit("GB/s"), InputError);  // prefixes never enter a record
  EXPECT_THROW(parse_unit("B/s "), InputError);
  EXPECT_THROW(parse_unit(""), InputError);
}

TEST(FormatSi, UsesFourDigitsAndAPrefix) {
  EXPECT_EQ(format_si(1.5e9, Unit::byte_per_second), "1.500 GB/s");
  EXPECT_EQ(format_si(87.25e-9, Unit::second), "87.25 ns");
  EXPECT_EQ(format_si(0, Unit::second), "0.000 s");
  EXPECT_EQ(format_si(-2e-3, Unit::second), "-2.000 ms");
}

TEST(FormatSi, RoundsIntoTheNextPrefix) {
  EXPECT_EQ(format_si(999.99e6, Unit::hertz), "1.000 GHz");
}

TEST(FormatSi, GivesNoPrefixToCountsOfCycles) {
  EXPECT_EQ(format_si(1234, Unit::cycle), "1234 cycle");
  EXPECT_EQ(format_si(0.25, Unit::one), "0.25");
}

TEST(FormatBytes, UsesBinaryPrefixesOnlyWhereExact) {
  EXPECT_EQ(format_bytes(48 * 1024), "48 KiB");
  EXPECT_EQ(format_bytes(1024.0 * 1024 * 1024), "1 GiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(100), "100 B");
  EXPECT_EQ(format_bytes(1000001), "1.000 MB");
}

}  // namespace
}  // namespace warpmeter
