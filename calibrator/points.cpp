// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/stats.h"

namespace warpmeter {
namespace {

template <typename Keep>
Points filter(const Points& points, Keep keep) {
  Points kept;
  std::copy_if(points.begin(), points.end(), std::back_inserter(kept),
               [&](const Measurement* point) { return keep(point->parameters); });
  return kept;
}

std::string join_some(const std::vector<std::string>& texts) {
  constexpr std::size_t shown = 3;
  std::string joined;
  for (std::size_t i = 0; i < std::min(shown, texts.size()); ++i) {
    joined += (i > 0 ? "; " : "") + texts[i];
  }
  if (texts.size() > shown) joined += fmt::format("; and {} more", texts.size() - shown);
  return joined;
}

}  // namespace

bool calibrates(const Measurement& measurement) {
  return measurement.value &&
         (usable(measurement.verdict) || measurement.verdict == Verdict::unstable);
}

Selection select(const Run& run, std::string_view quantity) {
  Selection selection;
  for (const Measurement* point : with_quantity(run, quantity)) {
    if (calibrates(*point)) {
      selection.usable.push_back(point);
    } else {
      selection.refused.push_back(fmt::format("{} ({}{}{})", point->id, to_string(point->verdict),
                                              point->reason.empty() ? "" : ": ", point->reason));
    }
  }
  return selection;
}

std::string missing_reason(const Selection& selection, std::string_view what) {
  if (selection.refused.empty()) return fmt::format("the runs hold no {}", what);
  return fmt::format("no usable {}: {}", what, join_some(selection.refused));
}

std::string left_out(const Selection& selection) {
  if (selection.refused.empty()) return "";
  return fmt::format("left out: {}", join_some(selection.refused));
}

Points with(const Points& points, const std::string& name, double value) {
  return filter(points,
                [&](const Parameters& parameters) { return number(parameters, name) == value; });
}

Points with(const Points& points, const std::string& name, const std::string& value) {
  return filter(points,
                [&](const Parameters& parameters) { return word(parameters, name) == value; });
}

Points with_or_without(const Points& points, const std::string& name, const std::string& value) {
  const bool named = std::any_of(points.begin(), points.end(), [&](const Measurement* point) {
    return point->parameters.contains(name);
  });
  return named ? with(points, name, value) : points;
}

std::optional<double> largest(const Points& points, const std::string& name) {
  std::optional<double> found;
  for (const Measurement* point : points) {
    const auto value = number(point->parameters, name);
    if (value && (!found || *value > *found)) found = value;
  }
  return found;
}

std::vector<Series> series_along(const Points& points, const std::string& x) {
  std::map<Parameters, Points> groups;
  for (const Measurement* point : points) {
    if (!number(point->parameters, x)) continue;
    Parameters fixed = point->parameters;
    fixed.erase(x);
    groups[fixed].push_back(point);
  }
  std::vector<Series> series;
  for (auto& [fixed, group] : groups) {
    std::sort(group.begin(), group.end(), [&](const Measurement* a, const Measurement* b) {
      return *number(a->parameters, x) < *number(b->parameters, x);
    });
    series.push_back({fixed, group});
  }
  return series;
}

std::vector<double> numbers(const Points& points, const std::string& name) {
  std::vector<double> found;
  for (const Measurement* point : points) found.push_back(number(point->parameters, name).value());
  return found;
}

std::vector<double> values(const Points& points) {
  std::vector<double> found;
  for (const Measurement* point : points) found.push_back(point->value.value());
  return found;
}

std::vector<std::string> ids(const Points& points) {
  std::vector<std::string> found;
  for (const Measurement* point : points) found.push_back(point->id);
  return found;
}

std::size_t campaign_count(const Points& points) {
  if (points.empty()) return 0;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const Measurement* point : points) {
    const auto filled = std::count_if(point->samples.begin(), point->samples.end(),
                                      [](const auto& campaign) { return !campaign.empty(); });
    fewest = std::min(fewest, static_cast<std::size_t>(filled));
  }
  return fewest;
}

std::optional<double> location(std::span<const double> samples) {
  const auto middle = median(samples);
  if (!middle) return std::nullopt;
  std::vector<double> deviations;
  for (const double sample : samples) deviations.push_back(std::abs(sample - *middle));
  // 1.4826: from the median absolute deviation to a standard deviation.
  const double limit = 3 * 1.4826 * *median(deviations);
  std::vector<double> kept;
  for (const double sample : samples) {
    if (std::abs(sample - *middle) <= limit) kept.push_back(sample);
  }
  return median(kept);
}

std::vector<double> campaign_values(const Points& points, std::size_t campaign) {
  std::vector<double> found;
  for (const Measurement* point : points) {
    std::size_t seen = 0;
    for (const auto& samples : point->samples) {
      if (samples.empty() || seen++ != campaign) continue;
      found.push_back(*location(samples));
    }
  }
  return found;
}

std::vector<double> replicate(const Points& points, const Estimator& estimator) {
  std::vector<double> estimates;
  const std::size_t campaigns = campaign_count(points);
  for (std::size_t i = 0; i < std::max<std::size_t>(campaigns, 1); ++i) {
    const auto estimate = estimator(campaigns > 0 ? campaign_values(points, i) : values(points));
    if (!estimate) return {};
    estimates.push_back(*estimate);
  }
  return estimates;
}

}  // namespace warpmeter
