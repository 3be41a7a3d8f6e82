// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/interval.h"

namespace warpmeter {

// Statistics of nothing are null, never zero. Samples need not be sorted. All results are in the
// samples' unit.
std::optional<double> median(std::span<const double> samples);

// Linear interpolation between order statistics (Hyndman and Fan's type 7), probability in [0, 1].
std::optional<double> quantile(std::span<const double> samples, double probability);

struct Summary {
  std::size_t count = 0;
  double min = 0, q1 = 0, median = 0, q3 = 0, max = 0;
};
std::optional<Summary> summarize(std::span<const double> samples);

// Median over campaigns of each campaign's median; empty campaigns are skipped.
std::optional<double> campaign_median(std::span<const std::vector<double>> campaigns);

// Interval of campaign_median: a bootstrap over the campaigns' medians gives its standard error,
// and Student's t with campaigns - 1 degrees of freedom the width. Samples of one campaign share
// their pages, placement and clock state, so they are not resampled: their scatter is part of the
// scatter of the campaigns' medians already, and a second stage counts it twice (coverage of
// nominal 90 % intervals for 2 to 10 campaigns: two stages with percentiles 90 to 100 %, this 84 to
// 94 %, lowest where the clock steps once between ten campaigns). Null for fewer than two
// campaigns. Deterministic for a given seed.
std::optional<Interval> bootstrap_interval(std::span<const std::vector<double>> campaigns,
                                           double level = default_level, std::uint64_t seed = 1,
                                           int resamples = 1000);

// Two-sided quantile of Student's t: t such that P(|T| <= t) = level, for `degrees` >= 1.
double student_t(double level, double degrees);

// Silverman's critical-bandwidth test on the samples: p is the probability, under one mode, of a
// valley at least this deep. The centres of the modes are given when p < 0.05 and the two groups
// are apart by at least 3 standard deviations and 2 %.
struct Modality {
  double p_value = 1;
  std::vector<double> modes;  // one centre if unimodal
};
std::optional<Modality> test_modality(std::span<const double> samples,
                                      std::uint64_t seed = 1);  // null below 20 samples

// Trend over the order of the samples: Mann-Kendall p value (two-sided) and the Theil-Sen change
// from first to last sample, relative to the median.
struct Drift {
  double relative_change = 0;
  double p_value = 1;
};
std::optional<Drift> test_drift(std::span<const double> samples);  // null below 8 samples

}  // namespace warpmeter
