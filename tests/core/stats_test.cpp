// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/stats.h"

#include <gtest/gtest.h>

#include <random>

namespace warpmeter {
namespace {

TEST(Median, OfNothingIsUnknown) { EXPECT_FALSE(median({}).has_value()); }

TEST(Median, OfAnEvenCountIsTheMiddleOfTwo) {
  EXPECT_DOUBLE_EQ(*median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(*median(std::vector<double>{5, 1, 9}), 5);
}

TEST(Quantile, InterpolatesLinearly) {
  const std::vector<double> samples = {10, 20, 30, 40, 50};
  EXPECT_DOUBLE_EQ(*quantile(samples, 0), 10);
  EXPECT_DOUBLE_EQ(*quantile(samples, 0.1), 14);  // position 0.4
  EXPECT_DOUBLE_EQ(*quantile(samples, 0.75), 40);
  EXPECT_DOUBLE_EQ(*quantile(samples, 1), 50);
}

TEST(Summary, HoldsTheFiveNumbers) {
  const Summary summary = *summarize(std::vector<double>{4, 8, 1, 2, 16});
  EXPECT_EQ(summary.count, 5u);
  EXPECT_DOUBLE_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.q1, 2);
  EXPECT_DOUBLE_EQ(summary.median, 4);
  EXPECT_DOUBLE_EQ(summary.q3, 8);
  EXPECT_DOUBLE_EQ(summary.max, 16);
}

TEST(CampaignMedian, WeighsCampaignsAndNotSamples) {
  const std::vector<std::vector<double>> campaigns = {{1, 1, 1, 1, 1, 1, 1}, {3}, {5}, {}};
  EXPECT_DOUBLE_EQ(*campaign_median(campaigns), 3);
}

TEST(StudentT, AgreesWithTheTable) {
  EXPECT_NEAR(student_t(0.9, 2), 2.920, 5e-4);
  EXPECT_NEAR(student_t(0.95, 10), 2.228, 5e-4);
}

TEST(BootstrapInterval, NeedsTwoCampaigns) {
  EXPECT_FALSE(bootstrap_interval(std::vector<std::vector<double>>{{1, 2, 3}}).has_value());
  EXPECT_FALSE(bootstrap_interval(std::vector<std::vector<double>>{{1, 2, 3}, {}}).has_value());
}

TEST(BootstrapInterval, OfEqualSamplesHasNoWidth) {
  const Interval interval =
      *bootstrap_interval(std::vector<std::vector<double>>{{7, 7}, {7, 7}, {7}});
  EXPECT_DOUBLE_EQ(interval.lo, 7);
  EXPECT_DOUBLE_EQ(interval.hi, 7);
}

// The campaign effect (2 %) is larger than the noise within (1 %): an interval over pooled samples
// would hold the truth in well under half of the cases.
double coverage(int campaigns, int trials) {
  std::mt19937_64 random(20261201);
  std::normal_distribution<double> normal;
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<std::vector<double>> data(campaigns);
    for (auto& campaign : data) {
      const double center = 100 * (1 + 0.02 * normal(random));
      for (int i = 0; i < 15; ++i) campaign.push_back(center * (1 + 0.01 * normal(random)));
    }
    const Interval interval = *bootstrap_interval(data, 0.9, random(), 300);
    held += interval.lo <= 100 && 100 <= interval.hi;
  }
  return static_cast<double>(held) / trials;
}

TEST(BootstrapInterval, HoldsTheTruthAsOftenAsItSays) {
  for (const int campaigns : {3, 5, 10}) {
    const double share = coverage(campaigns, 600);
    EXPECT_GE(share, 0.85) << campaigns << " campaigns";
    EXPECT_LE(share, 0.96) << campaigns << " campaigns";
  }
}

TEST(Modality, SeesTwoGroups) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> near(200, 3), far(260, 3);
  std::vector<double> samples;
  for (int i = 0; i < 60; ++i) samples.push_back(i % 3 == 0 ? far(random) : near(random));
  const Modality modality = *test_modality(samples);
  EXPECT_LT(modality.p_value, 0.05);
  ASSERT_EQ(modality.modes.size(), 2u);
  EXPECT_NEAR(modality.modes[0], 200, 2);
  EXPECT_NEAR(modality.modes[1], 260, 3);
}

TEST(Modality, AcceptsOneGroupWithATail) {
  int false_alarms = 0;
  for (int seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, 1);
    std::exponential_distribution<double> tail(0.5);
    std::vector<double> samples;
    for (int i = 0; i < 60; ++i) samples.push_back(100 + noise(random) + tail(random));
    false_alarms += test_modality(samples)->modes.size() > 1;
  }
  EXPECT_LE(false_alarms, 3);
}

TEST(Modality, OfEqualSamplesIsOne) {
  EXPECT_EQ(test_modality(std::vector<double>(30, 5.0))->modes.size(), 1u);
}

TEST(Drift, FindsARisingTrend) {
  std::vector<double> samples;
  for (int i = 0; i < 21; ++i) samples.push_back(100 + i + (i % 2));
  const Drift drift = *test_drift(samples);
  EXPECT_LT(drift.p_value, 1e-6);
  EXPECT_NEAR(drift.relative_change, 20.0 / 110.0, 0.01);
}

TEST(Drift, FindsNoneInNoise) {
  int alarms = 0;
  for (int seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(100, 1);
    std::vector<double> samples(20);
    for (double& sample : samples) sample = noise(random);
    alarms += test_drift(samples)->p_value < 0.05;
  }
  EXPECT_LE(alarms, 20);  // 10 expected
}

}  // namespace
}  // namespace warpmeter
