// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/saturation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/stats.h"

namespace warpmeter {
namespace {

// Of the form above, d log X / d log n is 1 where the latency rules and 0 where the bandwidth does.
constexpr double latency_slope = 0.7;
constexpr double bandwidth_slope = 0.3;

// Median of the pairwise slopes d log X / d log n over points [first, last].
double slope(std::span<const double> n, std::span<const double> x, std::size_t first,
             std::size_t last) {
  std::vector<double> slopes;
  for (std::size_t i = first; i <= last; ++i) {
    for (std::size_t j = i + 1; j <= last; ++j) {
      slopes.push_back(std::log(x[j] / x[i]) / std::log(n[j] / n[i]));
    }
  }
  return median(slopes).value_or(0);
}

// The last index whose n is within a factor of two of the first point; at least the second point.
std::size_t end_of_low_side(std::span<const double> n) {
  std::size_t last = 1;
  while (last + 1 < n.size() && n[last + 1] <= 2 * n[0]) ++last;
  return last;
}

std::size_t begin_of_high_side(std::span<const double> n) {
  std::size_t first = n.size() - 2;
  while (first > 0 && n[first - 1] >= n.back() / 2) --first;
  return first;
}

}  // namespace

Saturation fit_saturation(std::span<const double> in_flight, std::span<const double> bandwidth,
                          std::optional<PNorm> start) {
  Saturation result;
  if (in_flight.size() < 4) {
    result.latency_reason = result.bandwidth_reason = fmt::format(
        "{} points of bandwidth against bytes in flight; at least 4 are needed", in_flight.size());
    return result;
  }
  const double low = slope(in_flight, bandwidth, 0, end_of_low_side(in_flight));
  const std::size_t high_first = begin_of_high_side(in_flight);
  const double high = slope(in_flight, bandwidth, high_first, in_flight.size() - 1);
  if (low < latency_slope) {
    result.latency_reason = fmt::format(
        "already at {:g} B in flight the bandwidth grows only as the power {:.2f} of the bytes in "
        "flight: the latency does not rule anywhere; measure with fewer bytes in flight",
        in_flight.front(), low);
  }
  if (high > bandwidth_slope) {
    result.bandwidth_reason = fmt::format(
        "at {:g} B in flight the bandwidth still grows as the power {:.2f} of the bytes in flight: "
        "not saturated; at least {:g} B/s",
        in_flight.back(), high, *std::max_element(bandwidth.begin(), bandwidth.end()));
  }
  if (result.latency_reason.empty() && result.bandwidth_reason.empty()) {
    std::vector<double> times(in_flight.size());
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = in_flight[i] / bandwidth[i];
    // p >= 1: with p < 1 the bandwidth would be an extrapolation far beyond every measured point.
    result.fit = fit_p_norm(in_flight, times, {1, 30, std::nullopt, start});
    if (!result.fit) result.latency_reason = result.bandwidth_reason = "the fit did not converge";
  }
  if (result.fit) {
    result.latency = result.fit->form.a;
    result.bandwidth = result.fit->form.b;
    result.concurrency = *result.latency * *result.bandwidth;
  } else if (result.latency_reason.empty()) {
    result.latency = in_flight[0] / bandwidth[0];  // an upper limit that is close: slope near 1
  } else if (result.bandwidth_reason.empty()) {
    result.bandwidth = median(bandwidth.subspan(high_first));
  }
  return result;
}

}  // namespace warpmeter
