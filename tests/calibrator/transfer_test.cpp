// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/transfer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace warpmeter {
namespace {

std::vector<double> doubling(double first, int count) {
  std::vector<double> sizes;
  for (int i = 0; i < count; ++i) sizes.push_back(std::ldexp(first, i));
  return sizes;
}

template <typename Form>
std::vector<double> times_of(const std::vector<double>& sizes, const Form& form) {
  std::vector<double> times;
  for (const double n : sizes) times.push_back(form(n));
  return times;
}

TEST(AlphaBeta, OfTwoPointsIsTheLineThroughThem) {
  const std::vector<double> sizes{1000, 3000}, times{2e-6, 4e-6};
  const auto fit = fit_alpha_beta(sizes, times);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->alpha, 1e-6, 1e-15);
  EXPECT_NEAR(fit->beta, 1e9, 1);
  EXPECT_FALSE(fit_alpha_beta(std::vector{1.0}, std::vector{1.0}));
}

TEST(AlphaBeta, WeighsPointsByRelativeError) {
  // Three points on t = 1 + n but the largest is 10 % too long. By hand, with weights 1/t^2:
  // minimise (a+b-2)^2/4 + (a+3b-4)^2/16 + (a+999b-1100)^2/1100^2.
  const std::vector<double> sizes{1, 3, 999}, times{2, 4, 1100};
  const auto fit = fit_alpha_beta(sizes, times);
  ASSERT_TRUE(fit);
  const double w[3] = {0.25, 0.0625, 1.0 / (1100.0 * 1100.0)};
  double sw = 0, swx = 0, swxx = 0, swy = 0, swxy = 0;
  for (int i = 0; i < 3; ++i) {
    sw += w[i], swx += w[i] * sizes[i], swxx += w[i] * sizes[i] * sizes[i];
    swy += w[i] * times[i], swxy += w[i] * sizes[i] * times[i];
  }
  const double slope = (sw * swxy - swx * swy) / (sw * swxx - swx * swx);
  EXPECT_NEAR(1 / fit->beta, slope, 1e-9);
  EXPECT_NEAR(fit->alpha, (swy - slope * swx) / sw, 1e-9);
}

TEST(PNormFit, RecoversTheFormForSmallAndLargeExponents) {
  const auto sizes = doubling(8, 27);
  for (const double p : {0.5, 1.0, 1.5, 4.0}) {
    const PNorm planted{9e-6, 72e9, p};
    const auto fit = fit_p_norm(sizes, times_of(sizes, planted));
    ASSERT_TRUE(fit) << p;
    EXPECT_NEAR(fit->form.a / planted.a, 1, 1e-4) << p;
    EXPECT_NEAR(fit->form.b / planted.b, 1, 1e-4) << p;
    EXPECT_NEAR(fit->form.p / p, 1, 1e-3) << p;
    EXPECT_EQ(fit->rank, 3);
  }
}

TEST(PNormFit, CovarianceIsThatOfRepeatedNoise) {
  const auto sizes = doubling(64, 24);
  const PNorm planted{5e-6, 25e9, 1.2};
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, 0.02);
  double squares = 0, predicted = 0;
  constexpr int repeats = 200;
  for (int i = 0; i < repeats; ++i) {
    auto times = times_of(sizes, planted);
    for (double& t : times) t *= std::exp(normal(random));
    const auto fit = fit_p_norm(sizes, times, {.start = planted});
    ASSERT_TRUE(fit && fit->covariance);
    squares += std::pow(std::log(fit->form.b / planted.b), 2) / repeats;
    predicted += (*fit->covariance)[1][1] / repeats;
  }
  EXPECT_NEAR(std::sqrt(predicted / squares), 1, 0.2);
}

TEST(PNormFit, PointsOnOneSideLackRankOrHitABound) {
  const auto sizes = doubling(1 << 20, 8);
  const auto fit = fit_p_norm(sizes, times_of(sizes, [](double n) { return n / 1e9; }));
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->covariance);
  EXPECT_FALSE(fit->why.empty());
}

TEST(PNormFit, APhysicalCeilingBindsTheBandwidth) {
  const auto sizes = doubling(64, 24);
  const auto times = times_of(sizes, PNorm{5e-6, 25e9, 1.2});
  const auto fit = fit_p_norm(sizes, times, {.b_max = 20e9});
  ASSERT_TRUE(fit);
  EXPECT_LE(fit->form.b, 20e9 * (1 + 1e-9));
  EXPECT_EQ(fit->why, "B is at its bound");
}

TEST(PNormFit, RefusesZeroTimes) {
  const std::vector<double> sizes{1, 2, 3, 4}, times{1, 0, 1, 1};
  EXPECT_THROW(fit_p_norm(sizes, times), std::invalid_argument);
}

TEST(Piecewise, RecoversTwoKnots) {
  const auto planted = [](double n) {
    return 1 + n * 0.1 + std::max(0.0, n - 64) * 0.4 + std::max(0.0, n - 1024) * 0.5;
  };
  const auto sizes = doubling(1, 16);
  const auto fit = fit_piecewise(sizes, times_of(sizes, planted), 2);
  ASSERT_TRUE(fit);
  ASSERT_EQ(fit->knots.size(), 4u);
  EXPECT_DOUBLE_EQ(fit->knots[1], 64);
  EXPECT_DOUBLE_EQ(fit->knots[2], 1024);
  EXPECT_NEAR((*fit)(500), planted(500), 1e-6);
  EXPECT_NEAR((*fit)(65536), planted(65536), 1e-6);  // the last piece goes on
}

TEST(Piecewise, NeverFalls) {
  const std::vector<double> sizes{1, 2, 3, 4, 5, 6, 7, 8, 9}, times{1, 1, 1, 4, 4, 4, 2, 2, 2};
  const auto fit = fit_piecewise(sizes, times, 2);
  if (fit) {
    EXPECT_TRUE(std::is_sorted(fit->values.begin(), fit->values.end()));
  }
  EXPECT_FALSE(fit_piecewise(std::vector{1.0, 2.0}, std::vector{1.0, 2.0}, 2));
}

TEST(TransferFits, LeaveOneOutTellsTheTrueFormFromAlphaBeta) {
  const auto sizes = doubling(8, 22);
  const TransferFits fits = fit_transfer(sizes, times_of(sizes, PNorm{9e-6, 72e9, 0.6}));
  ASSERT_TRUE(fits.alpha_beta_error && fits.p_norm_error && fits.piecewise_error);
  EXPECT_LT(fits.p_norm_error->worst, 1e-3);
  EXPECT_GT(fits.alpha_beta_error->mape, 0.05);
  EXPECT_LT(fits.piecewise_error->mape, fits.alpha_beta_error->mape);
}

}  // namespace
}  // namespace warpmeter
