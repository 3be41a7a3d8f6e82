// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/counter_validation.h"

#include <gtest/gtest.h>

#include <random>

namespace warpmeter {
namespace {

std::vector<KnownWork> runs(double gain, double offset, double noise = 0, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<KnownWork> out;
  for (const double work : {1e6, 2e6, 4e6, 8e6, 16e6, 32e6})
    out.push_back({work, (gain * work + offset) * (1 + noise * normal(random))});
  return out;
}

TEST(CounterValidation, FindsGainAndOffset) {
  const CounterCheck check = check_counter(runs(1.01, 700));
  EXPECT_NEAR(*check.gain, 1.01, 1e-12);
  EXPECT_NEAR(*check.offset, 700, 1e-6);
  EXPECT_EQ(check.verdict, CounterVerdict::ok);
  EXPECT_EQ(check.reason, "");
  EXPECT_NEAR(check.gain_interval->hi - check.gain_interval->lo, 0, 1e-9);
}

TEST(CounterValidation, NamesWhatACounterDoes) {
  const std::vector<std::pair<double, CounterVerdict>> gains = {
      {1.019, CounterVerdict::ok},     {1.021, CounterVerdict::wrong},
      {0.981, CounterVerdict::ok},     {2.03, CounterVerdict::doubled},
      {1.95, CounterVerdict::wrong},   {0.5, CounterVerdict::halved},
      {0.495, CounterVerdict::halved}, {32, CounterVerdict::wrong},
      {0, CounterVerdict::missing},
  };
  for (const auto& [gain, verdict] : gains)
    EXPECT_EQ(check_counter(runs(gain, 0)).verdict, verdict) << gain;
  EXPECT_EQ(check_counter(runs(2, 0)).reason, "it counts 2 times the work");
  const CounterCheck more = check_counter(runs(1, 5e4));
  EXPECT_EQ(more.verdict, CounterVerdict::wrong);
  EXPECT_EQ(more.reason, "it counts 5e+04 more than 1 times the work");
}

TEST(CounterValidation, KnowsWhatItDoesNotKnow) {
  EXPECT_EQ(check_counter({}).verdict, CounterVerdict::missing);
  EXPECT_EQ(check_counter({{1e6, {}}, {2e6, {}}, {3e6, {}}}).reason, "it gave no value");
  const CounterCheck two = check_counter({{1e6, 1e6}, {2e6, 2e6}});
  EXPECT_EQ(two.verdict, CounterVerdict::uncertain);
  EXPECT_DOUBLE_EQ(*two.gain, 1);
  const CounterCheck one_size = check_counter({{1e6, 1e6}, {1e6, 1e6}, {1e6, 1.1e6}});
  EXPECT_FALSE(one_size.gain);
  EXPECT_EQ(one_size.verdict, CounterVerdict::uncertain);
  EXPECT_EQ(check_counter(runs(1, 0, 0.2)).verdict, CounterVerdict::uncertain);
}

// Three runs by hand: 1/expected = 1, 2, 3 and ratios 1, 1.1, 1: slope 0, intercept 31/30, residual
// variance 1/150, t(1) = 6.313752, half width t * sqrt(1/150 * (1/3 + 4/2)).
TEST(CounterValidation, GivesStudentsInterval) {
  const CounterCheck check = check_counter({{1, 1}, {0.5, 0.55}, {1. / 3, 1. / 3}});
  EXPECT_NEAR(*check.gain, 31. / 30, 1e-12);
  EXPECT_NEAR(*check.offset, 0, 1e-12);
  EXPECT_NEAR(check.gain_interval->hi - *check.gain, 6.313752 * std::sqrt(7. / 450), 1e-5);
  EXPECT_NEAR(check.offset_interval->hi, 6.313752 * std::sqrt(1. / 300), 1e-5);
}

TEST(CounterValidation, CoversThePlantedGain) {
  int covered = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    const Interval gain = *check_counter(runs(1, 2000, 0.01, seed)).gain_interval;
    covered += gain.lo <= 1 && 1 <= gain.hi;
  }
  EXPECT_GT(covered, 2000 * 0.87);
  EXPECT_LT(covered, 2000 * 0.93);
}

}  // namespace
}  // namespace warpmeter
