// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/selection.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/microbench/fake_benchmark.h"

namespace warpmeter {
namespace {

const std::vector<Benchmark> table = {fake_row("latency.chase", 1, nullptr),
                                      fake_row("latency.fma", 1, nullptr),
                                      fake_row("bandwidth.read", 1, nullptr)};

std::size_t count(const std::vector<std::string>& ids) { return select(table, ids).size(); }

TEST(Select, TakesWholeNamesAndPrefixesUpToADot) {
  EXPECT_EQ(count({}), 3u);
  EXPECT_EQ(count({"latency"}), 2u);
  EXPECT_EQ(count({"latency.fma", "bandwidth"}), 2u);
  EXPECT_THROW(count({"lat"}), InputError);
}

TEST(Select, OffersTheNearestNames) {
  try {
    count({"latency.chsae"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("nearest: latency.chase"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace warpmeter
