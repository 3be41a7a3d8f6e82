// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <cmath>
#include <random>

#include "core/stats.h"

// B. W. Silverman, "Using kernel density estimates to investigate multimodality", J. R. Stat. Soc.
// B 43 (1981) 97-99.

namespace warpmeter {
namespace {

constexpr int grid_points = 128;
constexpr int resamples = 100;

struct Density {
  std::vector<double> x;
  std::vector<double> y;  // not normalised
};

Density density(std::span<const double> samples, double bandwidth) {
  const auto [lo, hi] = std::minmax_element(samples.begin(), samples.end());
  Density out;
  out.x.resize(grid_points);
  out.y.assign(grid_points, 0);
  const double from = *lo - 2 * bandwidth;
  const double step = (*hi - *lo + 4 * bandwidth) / (grid_points - 1);
  for (int i = 0; i < grid_points; ++i) {
    out.x[i] = from + step * i;
    for (const double sample : samples) {
      const double z = (out.x[i] - sample) / bandwidth;
      if (std::fabs(z) < 6) out.y[i] += std::exp(-0.5 * z * z);
    }
  }
  return out;
}

int count_modes(std::span<const double> samples, double bandwidth) {
  const Density curve = density(samples, bandwidth);
  int modes = 0;
  for (int i = 1; i + 1 < grid_points; ++i)
    modes += curve.y[i] > curve.y[i - 1] && curve.y[i] >= curve.y[i + 1];
  return modes;
}

// The smallest bandwidth at which the density has one mode; the number of modes never rises with a
// Gaussian kernel's bandwidth.
double critical_bandwidth(std::span<const double> samples, double range) {
  double lo = range / grid_points;
  double hi = range;
  for (int i = 0; i < 20; ++i) {
    const double middle = std::sqrt(lo * hi);
    (count_modes(samples, middle) > 1 ? lo : hi) = middle;
  }
  return hi;
}

// Two groups by the split that leaves the least variance within them.
struct Split {
  double low = 0, high = 0;  // the groups' medians
  double separation = 0;     // Ashman's D
  double smaller_share = 0;
};

Split best_split(const std::vector<double>& sorted) {
  const auto n = sorted.size();
  std::vector<double> sum(n + 1, 0), squares(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    sum[i + 1] = sum[i] + sorted[i];
    squares[i + 1] = squares[i] + sorted[i] * sorted[i];
  }
  const auto within = [&](std::size_t a, std::size_t b) {
    const double total = sum[b] - sum[a];
    return std::max(0.0, squares[b] - squares[a] - total * total / static_cast<double>(b - a));
  };
  std::size_t at = 1;
  for (std::size_t i = 2; i < n; ++i) {
    if (within(0, i) + within(i, n) < within(0, at) + within(at, n)) at = i;
  }
  const double low_variance = within(0, at) / static_cast<double>(at);
  const double high_variance = within(at, n) / static_cast<double>(n - at);
  Split split;
  split.low = *median(std::span(sorted).first(at));
  split.high = *median(std::span(sorted).subspan(at));
  split.smaller_share = static_cast<double>(std::min(at, n - at)) / static_cast<double>(n);
  const double spread = std::sqrt(low_variance + high_variance);
  split.separation = spread > 0 ? std::sqrt(2.0) * (split.high - split.low) / spread : 1e9;
  return split;
}

double silverman_p(const std::vector<double>& sorted, double range, std::uint64_t seed) {
  const double bandwidth = critical_bandwidth(sorted, range);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, bandwidth);
  // Drawn from the smoothed samples, shrunk to their variance (Silverman 1986, section 6.4.1):
  // without it the test is too mild.
  double mean = 0, variance = 0;
  for (const double value : sorted) mean += value / static_cast<double>(sorted.size());
  for (const double value : sorted)
    variance += (value - mean) * (value - mean) / static_cast<double>(sorted.size());
  const double shrink = 1 / std::sqrt(1 + bandwidth * bandwidth / variance);
  std::vector<double> draw(sorted.size());
  int as_many = 0;
  for (int i = 0; i < resamples; ++i) {
    for (double& value : draw) {
      const double smoothed = sorted[random() % sorted.size()] + noise(random);
      value = mean + (smoothed - mean) * shrink;
    }
    as_many += count_modes(draw, bandwidth) > 1;
  }
  return (as_many + 1.0) / (resamples + 1.0);
}

}  // namespace

std::optional<Modality> test_modality(std::span<const double> samples, std::uint64_t seed) {
  if (samples.size() < 20) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double middle = *median(sorted);
  const double range = sorted.back() - sorted.front();
  Modality result;
  result.modes = {middle};
  if (range <= 0) return result;
  const Split split = best_split(sorted);
  const bool apart = split.separation > 3 && split.smaller_share >= 0.1 &&
                     split.high - split.low > 0.02 * std::fabs(middle);
  if (!apart) return result;  // not worth the bootstrap
  result.p_value = silverman_p(sorted, range, seed);
  if (result.p_value < 0.05) result.modes = {split.low, split.high};
  return result;
}

}  // namespace warpmeter
