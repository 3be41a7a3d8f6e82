// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/stats.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <random>

namespace warpmeter {
namespace {

double sorted_quantile(std::span<const double> sorted, double probability) {
  const double position = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

// The median of a scratch vector, which it reorders: the bootstrap's inner loop.
double take_median(std::vector<double>& values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle),
                   values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  const double lower =
      *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle));
  return lower + (upper - lower) / 2;
}

double resampled_median(const std::vector<double>& values, std::mt19937_64& random) {
  std::vector<double> draw(values.size());
  // The bias of % is below 2^-50 for any campaign count here.
  for (double& value : draw) value = values[random() % values.size()];
  return take_median(draw);
}

std::vector<double> campaign_medians(std::span<const std::vector<double>> campaigns) {
  std::vector<double> medians;
  for (const auto& campaign : campaigns) {
    if (const auto middle = median(campaign)) medians.push_back(*middle);
  }
  return medians;
}

}  // namespace

std::optional<double> median(std::span<const double> samples) { return quantile(samples, 0.5); }

std::optional<double> quantile(std::span<const double> samples, double probability) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted_quantile(sorted, std::clamp(probability, 0.0, 1.0));
}

std::optional<Summary> summarize(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return Summary{sorted.size(),
                 sorted.front(),
                 sorted_quantile(sorted, 0.25),
                 sorted_quantile(sorted, 0.5),
                 sorted_quantile(sorted, 0.75),
                 sorted.back()};
}

std::optional<double> campaign_median(std::span<const std::vector<double>> campaigns) {
  return median(campaign_medians(campaigns));
}

double student_t(double level, double degrees) {
  return boost::math::quantile(boost::math::students_t(degrees), 0.5 + level / 2);
}

std::optional<Interval> bootstrap_interval(std::span<const std::vector<double>> campaigns,
                                           double level, std::uint64_t seed, int resamples) {
  const std::vector<double> medians = campaign_medians(campaigns);
  if (medians.size() < 2) return std::nullopt;
  std::mt19937_64 random(seed);
  const double center = *median(medians);
  double squares = 0;
  for (int i = 0; i < resamples; ++i) {
    const double deviation = resampled_median(medians, random) - center;
    squares += deviation * deviation;
  }
  const double half =
      student_t(level, static_cast<double>(medians.size() - 1)) * std::sqrt(squares / resamples);
  return Interval{center - half, center + half};
}

std::optional<Drift> test_drift(std::span<const double> samples) {
  const std::size_t count = samples.size();
  if (count < 8) return std::nullopt;
  std::vector<double> slopes;
  double score = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      const double difference = samples[j] - samples[i];
      score += (difference > 0) - (difference < 0);
      slopes.push_back(difference / static_cast<double>(j - i));
    }
  }
  // Mann-Kendall variance without ties; with continuity correction.
  const auto n = static_cast<double>(count);
  const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const double z = score == 0 ? 0 : (std::fabs(score) - 1) / deviation;
  Drift drift;
  drift.p_value = 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), z));
  const double middle = *median(samples);
  if (middle != 0) drift.relative_change = take_median(slopes) * (n - 1) / std::fabs(middle);
  return drift;
}

}  // namespace warpmeter
