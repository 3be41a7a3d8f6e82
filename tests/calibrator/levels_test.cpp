// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace warpmeter {
namespace {

// A staircase with planted levels and knees; between knee.lo and knee.hi log y is linear in log x.
struct Planted {
  std::vector<double> levels;
  std::vector<Interval> knees;

  double operator()(double x) const {
    for (std::size_t i = 0; i < knees.size(); ++i) {
      if (x <= knees[i].lo) return levels[i];
      if (x < knees[i].hi) {
        const double share = std::log(x / knees[i].lo) / std::log(knees[i].hi / knees[i].lo);
        return levels[i] * std::pow(levels[i + 1] / levels[i], share);
      }
    }
    return levels.back();
  }
};

std::vector<double> grid(double lo, double hi, int points) {
  std::vector<double> x;
  for (int i = 0; i < points; ++i) x.push_back(lo * std::pow(hi / lo, i / (points - 1.0)));
  return x;
}

std::vector<double> sample(const Planted& planted, const std::vector<double>& x, double noise) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, noise);
  std::vector<double> y;
  for (const double value : x) y.push_back(planted(value) * std::exp(normal(random)));
  return y;
}

const Planted three{{30, 200, 500}, {{1e5, 1.6e5}, {6e6, 9e6}}};

TEST(Levels, OfASparseStaircaseAreItsValuesAndGridNeighbours) {
  const std::vector<double> x{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  const std::vector<double> y{5, 5, 5, 5, 20, 20, 20, 80, 80, 80};
  const Staircase found = detect_levels(x, y);
  ASSERT_EQ(found.levels.size(), 3u);
  EXPECT_NEAR(found.levels[0].value, 5, 1e-9);
  EXPECT_NEAR(found.levels[1].value, 20, 1e-9);
  EXPECT_NEAR(found.levels[2].value, 80, 1e-9);
  ASSERT_EQ(found.knees.size(), 2u);
  EXPECT_EQ(found.knees[0], (Interval{8, 16}));
  EXPECT_EQ(found.knees[1], (Interval{64, 128}));
}

TEST(Levels, AreFoundOnDenseNoisyAndSparseCurves) {
  for (const int points : {50, 300}) {
    for (const double noise : {0.0, 0.01, 0.03}) {
      SCOPED_TRACE(testing::Message() << points << " points, noise " << noise);
      const auto x = grid(1e3, 1e9, points);
      const Staircase found = detect_levels(x, sample(three, x, noise));
      ASSERT_EQ(found.levels.size(), 3u);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(found.levels[i].value / three.levels[i], 1, 0.02);
      }
      for (std::size_t i = 0; i < 2; ++i) {
        const double step = x[1] / x[0] * 1.08;  // 3 % of a level is reached a little off its end
        EXPECT_GT(found.knees[i].lo, three.knees[i].lo / step);
        EXPECT_LT(found.knees[i].lo, three.knees[i].lo * step);
        EXPECT_GT(found.knees[i].hi, three.knees[i].hi / step);
        EXPECT_LT(found.knees[i].hi, three.knees[i].hi * step);
      }
    }
  }
}

TEST(Levels, FiveLevelsAndTwoLevelsAreCounted) {
  const Planted five{{1.2, 4, 14, 45, 110}, {{32e3, 64e3}, {1e6, 2e6}, {3e7, 6e7}, {6e8, 1.2e9}}};
  const auto x = grid(1e3, 3e10, 120);
  EXPECT_EQ(detect_levels(x, sample(five, x, 0.01)).levels.size(), 5u);
  const Planted two{{367, 755}, {{2e7, 6e7}}};
  EXPECT_EQ(detect_levels(x, sample(two, x, 0.01)).levels.size(), 2u);
}

TEST(Levels, OneSampleInsideARampIsNoLevel) {
  const std::vector<double> x{1, 2, 4, 8, 16, 32, 64, 128, 256};
  const std::vector<double> y{40, 40, 40, 40, 213, 290, 290, 290, 290};
  const Staircase found = detect_levels(x, y);
  ASSERT_EQ(found.levels.size(), 2u);
  EXPECT_EQ(found.knees[0], (Interval{8, 32}));
}

TEST(Levels, ALongSoftRampHasNone) {
  const auto x = grid(1e3, 1e9, 60);
  std::vector<double> y;
  for (const double value : x) y.push_back(std::pow(value, 0.25));  // 19 % per doubling
  const Staircase found = detect_levels(x, y);
  EXPECT_TRUE(found.levels.empty());
  EXPECT_TRUE(found.knees.empty());
}

TEST(Levels, AShallowRampHasNone) {
  // 12 % per doubling: pieces of 0.9 octaves stay within the band, but drift through it.
  const auto x = grid(1e3, 1e9, 80);
  std::vector<double> y;
  for (const double value : x) y.push_back(std::pow(value, 0.16));
  EXPECT_TRUE(detect_levels(x, y).levels.empty());
}

TEST(Levels, ASparseLevelSurvivesAnOutlierInItsMiddle) {
  const auto x = grid(1, 8192, 14);
  const std::vector<double> y{5, 5, 15, 5, 5, 40, 40, 40, 40, 40, 40, 40, 40, 40};
  EXPECT_EQ(detect_levels(x, y).levels.size(), 2u);
}

TEST(Levels, OneLevelHasNoKnee) {
  const auto x = grid(1e3, 1e6, 30);
  const Staircase found = detect_levels(x, std::vector<double>(30, 7.0));
  ASSERT_EQ(found.levels.size(), 1u);
  EXPECT_DOUBLE_EQ(found.levels[0].value, 7.0);
  EXPECT_TRUE(found.knees.empty());
}

TEST(Levels, ALoneOutlierNeitherSplitsALevelNorBecomesOne) {
  const auto x = grid(1e3, 1e9, 60);
  auto y = sample(three, x, 0.005);
  y[8] *= 3;
  y[30] *= 2;
  y[55] *= 1.5;
  const Staircase found = detect_levels(x, y);
  ASSERT_EQ(found.levels.size(), 3u);
  EXPECT_NEAR(found.levels[1].value, 200, 4);
}

TEST(Levels, CloseNeighboursAreModesOfOneLevel) {
  const Planted tlb_step{{100, 620, 680}, {{1e5, 2e5}, {1e8, 1.3e8}}};
  const auto x = grid(1e3, 4e9, 200);
  const Staircase found = detect_levels(x, sample(tlb_step, x, 0.001), {.band = 0.02});
  ASSERT_EQ(found.levels.size(), 2u);
  ASSERT_EQ(found.levels[1].modes.size(), 2u);
  EXPECT_NEAR(found.levels[1].modes[0].value, 620, 5);
  EXPECT_NEAR(found.levels[1].modes[1].value, 680, 5);
}

TEST(Levels, OfAFallingCurveAreFound) {
  const Planted bandwidth{{900, 300, 20}, {{4e4, 6e4}, {1e6, 3e6}}};
  const auto x = grid(1e3, 1e9, 80);
  const Staircase found = detect_levels(x, sample(bandwidth, x, 0.01), {.trend = Trend::falling});
  ASSERT_EQ(found.levels.size(), 3u);
  EXPECT_NEAR(found.levels[2].value, 20, 0.4);
}

TEST(Levels, AValueAgainstTheTrendIsDropped) {
  const Planted dip{{30, 200, 120, 500}, {{1e5, 1.6e5}, {1e7, 1.1e7}, {2e7, 2.4e7}}};
  const auto x = grid(1e3, 1e9, 200);
  const Staircase found = detect_levels(x, sample(dip, x, 0.001));
  ASSERT_EQ(found.levels.size(), 3u);
  EXPECT_NEAR(found.levels[1].value, 200, 2);
}

TEST(Levels, RefuseWhatIsNoCurve) {
  const std::vector<double> up{1, 2}, down{2, 1}, zero{0, 1}, one{1};
  EXPECT_THROW(detect_levels(up, one), std::invalid_argument);
  EXPECT_THROW(detect_levels(down, up), std::invalid_argument);
  EXPECT_THROW(detect_levels(up, zero), std::invalid_argument);
  EXPECT_THROW(detect_levels(zero, up), std::invalid_argument);
  EXPECT_TRUE(detect_levels({}, {}).levels.empty());
  EXPECT_TRUE(detect_levels(up, up).levels.empty());
}

}  // namespace
}  // namespace warpmeter
