// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The points of matrix products that only GPUs have: the same split as the host's.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

std::vector<Parameters> all_points(Effort effort) {
  std::vector<Parameters> all;
  for (const auto& points :
       {gemm_prefill_points, gemm_decode_points, gemm_sm90_points, gemm_fp8_points,
        gemm_int8_points, gemm_int4_points, gemm_grouped_points})
    for (Parameters& point : points(1, effort)) all.push_back(std::move(point));
  return all;
}

// (n, k) is on one side in all families.
TEST(GemmPoints, NeverSplitAGroup) {
  std::map<std::pair<double, double>, std::set<std::string>> sides;
  for (const Parameters& point : all_points(Effort::thorough))
    sides[{*number(point, "n"), *number(point, "k")}].insert(*word(point, "split"));
  for (const auto& [group, split] : sides)
    EXPECT_EQ(split.size(), 1U) << group.first << " x " << group.second;
  EXPECT_EQ(sides.size(), 8U);
}

TEST(GemmPoints, HaveBothSidesAtEveryEffort) {
  for (const Effort effort : {Effort::quick, Effort::standard, Effort::thorough}) {
    std::map<std::string, std::set<std::string>> sides;
    for (const Parameters& point : all_points(effort))
      sides[*word(point, "family")].insert(*word(point, "split"));
    for (const auto& [family, split] : sides) EXPECT_EQ(split.size(), 2U) << family;
    EXPECT_EQ(sides.size(), 7U);
  }
}

// 128 experts, of which each token takes 8: one token has 8, many tokens all.
TEST(GemmPoints, OfExpertsHaveRoutedRows) {
  std::map<double, double> active;
  for (const Parameters& point : gemm_grouped_points(1, Effort::thorough)) {
    EXPECT_EQ(number(point, "experts"), 128);
    active[*number(point, "rows")] = *number(point, "active");
  }
  EXPECT_EQ(active.at(8 * 1), 8);
  EXPECT_EQ(active.at(8 * 4), 29);  // 128 (1 - (15 / 16)^4) = 29.13
  EXPECT_EQ(active.at(8 * 4096), 128);
}

}  // namespace
}  // namespace warpmeter
