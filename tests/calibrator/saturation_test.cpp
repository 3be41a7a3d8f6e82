// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/saturation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace warpmeter {
namespace {

// 10 GB/s and 100 ns: the knee is at 1000 B in flight.
constexpr double bandwidth = 1e10, latency = 1e-7;

std::vector<double> curve(const std::vector<double>& n, double p) {
  std::vector<double> x;
  for (const double value : n) x.push_back(value / PNorm{latency, bandwidth, p}(value));
  return x;
}

const std::vector<double> both_sides{64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192};

TEST(Saturation, RecoversBandwidthLatencyAndTheirProduct) {
  const Saturation found = fit_saturation(both_sides, curve(both_sides, 3));
  ASSERT_TRUE(found.fit);
  EXPECT_NEAR(*found.bandwidth / bandwidth, 1, 1e-4);
  EXPECT_NEAR(*found.latency / latency, 1, 1e-4);
  EXPECT_NEAR(*found.concurrency, 1000, 0.2);
  EXPECT_NEAR(found.fit->form.p, 3, 1e-2);
  EXPECT_TRUE(found.fit->covariance);
}

TEST(Saturation, WithoutSaturationHasNoBandwidth) {
  const std::vector<double> few{32, 64, 96, 128, 192, 256};
  const Saturation found = fit_saturation(few, curve(few, 3));
  EXPECT_FALSE(found.bandwidth);
  EXPECT_FALSE(found.concurrency);
  EXPECT_NE(found.bandwidth_reason.find("not saturated"), std::string::npos);
  ASSERT_TRUE(found.latency);
  EXPECT_NEAR(*found.latency / latency, 1, 0.01);
}

TEST(Saturation, WithoutLatencySideHasNoLatency) {
  const std::vector<double> many{8192, 16384, 32768, 65536};
  const Saturation found = fit_saturation(many, curve(many, 3));
  EXPECT_FALSE(found.latency);
  EXPECT_FALSE(found.concurrency);
  EXPECT_NE(found.latency_reason.find("fewer bytes in flight"), std::string::npos);
  ASSERT_TRUE(found.bandwidth);
  EXPECT_NEAR(*found.bandwidth / bandwidth, 1, 0.01);
}

TEST(Saturation, AnActiveBoundMakesTheCovarianceMeaningless) {
  std::vector<double> sharp;
  for (const double n : both_sides) sharp.push_back(std::min(bandwidth, n / latency));
  const Saturation found = fit_saturation(both_sides, sharp);
  ASSERT_TRUE(found.fit);
  EXPECT_NEAR(*found.bandwidth / bandwidth, 1, 0.01);
  EXPECT_FALSE(found.fit->covariance);
  EXPECT_EQ(found.fit->why, "p is at its bound");
  EXPECT_FALSE(covariance_interval(*found.fit, 1, both_sides.size()));
}

TEST(Saturation, OfThreePointsIsUnknown) {
  const std::vector<double> n{64, 1024, 8192};
  const Saturation found = fit_saturation(n, curve(n, 3));
  EXPECT_FALSE(found.bandwidth || found.latency);
  EXPECT_NE(found.latency_reason.find("at least 4"), std::string::npos);
}

}  // namespace
}  // namespace warpmeter
