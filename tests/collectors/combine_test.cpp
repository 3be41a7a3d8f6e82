// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/combine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fake_ranges.h"

namespace warpmeter {
namespace {

const CounterPlan& two_groups() {
  static const CounterPlan plan = small_plan({{"sm__A.sum", "dram__D.sum"}, {"sm__B.sum"}});
  return plan;
}

const MetricValue& of(const std::vector<MetricValue>& values, const std::string& id) {
  for (const MetricValue& value : values)
    if (value.metric->id == id) return value;
  throw std::out_of_range(id);
}

// Student's t for 2 degrees of freedom at 90 %: 2.919986 (any table).
TEST(Combine, GivesTheMeanAndStudentsInterval) {
  PassSamples samples(two_groups());
  samples.groups[0] = {{1, 8}, {2, 8}, {6, 8}};
  samples.groups[1] = {{5}};
  const auto values = combine(two_groups(), samples);
  const MetricValue& a = of(values, "a");
  EXPECT_DOUBLE_EQ(*a.value, 3);
  const double half = 2.919986 * std::sqrt(7.0 / 3);
  EXPECT_NEAR(a.interval->lo, 3 - half, 1e-5);
  EXPECT_NEAR(a.interval->hi, 3 + half, 1e-5);
  EXPECT_EQ(a.launches, 3);
  EXPECT_EQ(a.scope, "context");
  EXPECT_EQ(of(values, "d").scope, "device");
  EXPECT_EQ(of(values, "d").interval, (Interval{8, 8}));
  EXPECT_EQ(of(values, "same").scope, "device");
  EXPECT_FALSE(of(values, "b").interval);
  EXPECT_EQ(of(values, "b").reason, "a pass was taken once: no interval");
  EXPECT_DOUBLE_EQ(*of(values, "ratio").value, 0.6);
  EXPECT_FALSE(of(values, "ratio").interval);
  EXPECT_FALSE(of(values, "c").value);
  EXPECT_EQ(of(values, "c").verdict, Verdict::failed);
  EXPECT_EQ(of(values, "c").reason, "no launch was measured for sm__C.sum");
}

// d/d = 1: what is counted in one launch has its covariance.
TEST(Combine, KnowsThatCountersOfAGroupMoveTogether) {
  PassSamples samples(two_groups());
  samples.groups[0] = {{2, 1}, {4, 2}, {8, 4}};
  samples.groups[1] = {{10}, {10}};
  const MetricValue same = of(combine(two_groups(), samples), "same");
  EXPECT_DOUBLE_EQ(*same.value, 2);
  EXPECT_NEAR(same.interval->hi - same.interval->lo, 0, 1e-6);
}

// Two groups of n launches and equal relative scatter: u^2 = r^2 (s_a^2 + s_b^2) / n, degrees of
// freedom 2 (n - 1) = 4; t = 2.131847.
TEST(Combine, AddsTheScatterOfGroups) {
  PassSamples samples(two_groups());
  samples.groups[0] = {{90, 1}, {100, 1}, {110, 1}};
  samples.groups[1] = {{9}, {10}, {11}};
  const MetricValue ratio = of(combine(two_groups(), samples), "ratio");
  EXPECT_DOUBLE_EQ(*ratio.value, 10);
  const double half = 2.131847 * 10 * std::sqrt(2 * 0.01 / 3);
  EXPECT_NEAR(ratio.interval->hi - 10, half, 1e-4);
  EXPECT_NEAR(10 - ratio.interval->lo, half, 1e-4);
  EXPECT_EQ(ratio.launches, 6);
}

TEST(Combine, CoversWhatWasPlanted) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise;
  int a_covered = 0, ratio_covered = 0;
  const int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    PassSamples samples(two_groups());
    for (int i = 0; i < 6; ++i) {
      samples.groups[0].push_back({1000 * (1 + 0.05 * noise(random)), 1});
      samples.groups[1].push_back({50 * (1 + 0.02 * noise(random))});
    }
    const auto values = combine(two_groups(), samples);
    const Interval a = *of(values, "a").interval, ratio = *of(values, "ratio").interval;
    a_covered += a.lo <= 1000 && 1000 <= a.hi;
    ratio_covered += ratio.lo <= 20 && 20 <= ratio.hi;
  }
  EXPECT_GT(a_covered, 0.85 * trials);
  EXPECT_LT(a_covered, 0.95 * trials);
  EXPECT_GT(ratio_covered, 0.85 * trials);
  EXPECT_LT(ratio_covered, 0.95 * trials);
}

TEST(Combine, MarksWhatVaries) {
  PassSamples samples(two_groups());
  samples.groups[0] = {{1, 1}, {1, 1}};
  samples.groups[1] = {{1}, {1}};
  samples.invariants = {{1000, 70}, {1000, 70}, {1000, 70}, {1080, 70}};
  const auto values = combine(two_groups(), samples);
  EXPECT_EQ(of(values, "a").verdict, Verdict::unstable);
  EXPECT_EQ(of(values, "a").reason, "elapsed cycles vary by 3.9 % over 4 launches (limit 2 %)");
  EXPECT_EQ(*of(values, "a").value, 1);
  EXPECT_EQ(why_unstable({{1000, 70}, {1020, 70}}), "");
  EXPECT_EQ(why_unstable({{1000, 70}, {1000, 80}, {{}, {}}}),
            "executed instructions vary by 9.4 % over 2 launches (limit 2 %)");
  EXPECT_EQ(why_unstable({{1000, 70}}), "");
}

TEST(Combine, PassesReasonsOnToFormulas) {
  CounterPlan plan = two_groups();
  plan.metrics[1].why = "the chip does not list it";
  PassSamples samples(plan);
  samples.groups[0] = {{1, 1}, {1, 1}};
  const auto values = combine(plan, samples);
  EXPECT_EQ(of(values, "b").verdict, Verdict::unsupported);
  EXPECT_EQ(of(values, "ratio").reason, "it needs b: the chip does not list it");
  samples.groups[0][1][0] = std::nan("");
  EXPECT_FALSE(of(combine(plan, samples), "a").value);
}

}  // namespace
}  // namespace warpmeter
