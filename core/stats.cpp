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

double pick(const std::vector<double>& values, std::mt19937_64& random) {
  return values[random() %
                values.size()];  // the bias of % is below 2^-50 for any sample count here
}

double resampled_median(std::span<const std::vector<double>* const> campaigns,
                        std::mt19937_64& random) {
  std::vector<double> medians;
  std::vector<double> draw;
  for (std::size_t i = 0; i < campaigns.size(); ++i) {
    const std::vector<double>& campaign = *campaigns[random() % campaigns.size()];
    draw.resize(campaign.size());
    for (double& value : draw) value = pick(campaign, random);
    medians.push_back(take_median(draw));
  }
  return take_median(medians);
}

std::vector<const std::vector<double>*> non_empty(std::span<const std::vector<double>> campaigns) {
  std::vector<const std::vector<double>*> found;
  for (const auto& campaign : campaigns) {
    if (!campaign.empty()) found.push_back(&campaign);
  }
  return found;
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
  std::vector<double> medians;
  for (const auto& campaign : campaigns) {
    if (const auto middle = median(campaign)) medians.push_back(*middle);
  }
  return median(medians);
}

double student_t(double level, double degrees) {
  return boost::math::quantile(boost::math::students_t(degrees), 0.5 + level / 2);
}

std::optional<Interval> bootstrap_interval(std::span<const std::vector<double>> campaigns,
                                           double level, std::uint64_t seed, int resamples) {
  const auto used = non_empty(campaigns);
  if (used.size() < 2) return std::nullopt;
  std::mt19937_64 random(seed);
  std::vector<double> medians(static_cast<std::size_t>(resamples));
  for (double& value : medians) value = resampled_median(used, random);
  std::sort(medians.begin(), medians.end());
  const double center = *campaign_median(campaigns);
  const auto count = static_cast<double>(used.size());
  const double normal = boost::math::quantile(boost::math::normal(), 0.5 + level / 2);
  const double widen = std::sqrt(count / (count - 1)) * student_t(level, count - 1) / normal;
  const double lo = sorted_quantile(medians, (1 - level) / 2);
  const double hi = sorted_quantile(medians, (1 + level) / 2);
  return Interval{center - (center - lo) * widen, center + (hi - center) * widen};
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
