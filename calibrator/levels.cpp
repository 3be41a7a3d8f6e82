// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/stats.h"

namespace warpmeter {
namespace {

// Indices [first, last] of points at one value.
struct Stretch {
  std::size_t first = 0, last = 0;
};

struct LogCurve {
  std::vector<double> u;       // log x
  std::vector<double> v;       // log y, as measured
  std::vector<double> smooth;  // log y after a running median of three
};

LogCurve log_curve(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw std::invalid_argument("detect_levels: x and y differ in length");
  LogCurve curve;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0) || !(y[i] > 0) || (i > 0 && x[i] <= x[i - 1])) {
      throw std::invalid_argument("detect_levels: x must rise and x, y must be positive");
    }
    curve.u.push_back(std::log(x[i]));
    curve.v.push_back(std::log(y[i]));
  }
  // A lone outlier vanishes; steps and ramps, being monotone, stay.
  curve.smooth = curve.v;
  for (std::size_t i = 1; i + 1 < x.size(); ++i) {
    const auto [lo, hi] = std::minmax(curve.v[i - 1], curve.v[i + 1]);
    curve.smooth[i] = std::clamp(curve.v[i], lo, hi);
  }
  return curve;
}

// Robust standard deviation of one point about its neighbours' mean. The lower quartile is taken
// over the whole curve: on a sparse curve more than half of the points can be next to a step.
double noise_of(const std::vector<double>& v) {
  std::vector<double> deviations;
  for (std::size_t i = 1; i + 1 < v.size(); ++i) {
    deviations.push_back(std::abs(v[i] - (v[i - 1] + v[i + 1]) / 2));
  }
  // 0.3186: lower quartile of a standard normal variable's absolute value; 1.5: variance of the
  // difference of one point and the mean of two.
  return quantile(deviations, 0.25).value_or(0) / 0.3186 / std::sqrt(1.5);
}

// level_median of log y.
double median_of(const LogCurve& curve, const Stretch& stretch) {
  const std::size_t n = stretch.last - stretch.first + 1;
  std::vector<double> x, y;
  for (std::size_t i = stretch.first; i < stretch.first + n; ++i) {
    x.push_back(std::exp(curve.u[i]));
    y.push_back(curve.v[i]);
  }
  return level_median(x, y);
}

// Least-squares change of log y over the stretch.
double systematic_change(const LogCurve& curve, const Stretch& stretch) {
  const std::size_t n = stretch.last - stretch.first + 1;
  const auto u = std::span(curve.u).subspan(stretch.first, n);
  const auto v = std::span(curve.smooth).subspan(stretch.first, n);
  const double mean_u = std::accumulate(u.begin(), u.end(), 0.0) / static_cast<double>(n);
  const double mean_v = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(n);
  double uu = 0, uv = 0;
  for (std::size_t i = 0; i < n; ++i) {
    uu += (u[i] - mean_u) * (u[i] - mean_u);
    uv += (u[i] - mean_u) * (v[i] - mean_v);
  }
  return uu > 0 ? uv / uu * (u.back() - u.front()) : 0;
}

bool is_level(const LogCurve& curve, const Stretch& stretch, double range,
              const LevelSettings& settings) {
  const double octaves = (curve.u[stretch.last] - curve.u[stretch.first]) / std::log(2.0);
  if (stretch.last - stretch.first + 1 < settings.min_points) return false;
  if (octaves < settings.min_octaves) return false;
  // A stretch that drifts is a piece of a ramp unless it is wide: at 1.5 octaves and the default
  // band, a drift below 7 % per doubling still counts as flat. Narrower ones may drift by 6 %,
  // and those below 0.75 octaves, as at the ends of a curve, by 8 % per doubling.
  const double drift = 0.6 * range * std::min(1.0, octaves / 0.75);
  return std::abs(systematic_change(curve, stretch)) < drift || octaves >= 1.5;
}

// The longest stretch from `first` on, up to `last`, whose values span at most `range`.
Stretch flat_from(const LogCurve& curve, std::size_t first, std::size_t last, double range) {
  double lo = curve.smooth[first], hi = curve.smooth[first];
  std::size_t end = first;
  for (; end < last; ++end) {
    lo = std::min(lo, curve.smooth[end + 1]);
    hi = std::max(hi, curve.smooth[end + 1]);
    if (hi - lo > range) break;
  }
  return {first, end};
}

double width(const LogCurve& curve, const Stretch& stretch) {
  return curve.u[stretch.last] - curve.u[stretch.first];
}

// Takes the widest level within [first, last], then looks on both sides of it.
void collect(const LogCurve& curve, std::size_t first, std::size_t last, double range,
             const LevelSettings& settings, std::vector<Stretch>& found) {
  std::optional<Stretch> best;
  for (std::size_t a = first; a <= last; ++a) {
    const Stretch stretch = flat_from(curve, a, last, range);
    if (best && width(curve, stretch) <= width(curve, *best)) continue;
    if (is_level(curve, stretch, range, settings)) best = stretch;
  }
  if (!best) return;
  if (best->first > first) collect(curve, first, best->first - 1, range, settings, found);
  found.push_back(*best);
  if (best->last < last) collect(curve, best->last + 1, last, range, settings, found);
}

// The widest part of a stretch within `range`, if that is at least half of it and does not drift
// through its range, else all of the stretch. A level that creeps at one end has its value where it
// does not.
Stretch flat_part(const LogCurve& curve, const Stretch& stretch, double range) {
  Stretch best{stretch.first, stretch.first};
  for (std::size_t a = stretch.first; a <= stretch.last; ++a) {
    const Stretch part = flat_from(curve, a, stretch.last, range);
    if (width(curve, part) > width(curve, best)) best = part;
  }
  const bool wide = 2 * width(curve, best) >= width(curve, stretch);
  return wide && std::abs(systematic_change(curve, best)) < 0.6 * range ? best : stretch;
}

// Neighbours closer than `merge_ratio` form one group.
std::vector<std::vector<Stretch>> group(const LogCurve& curve, const std::vector<Stretch>& found,
                                        double merge_ratio) {
  std::vector<std::vector<Stretch>> groups;
  for (const Stretch& stretch : found) {
    if (!groups.empty()) {
      const double step = median_of(curve, stretch) - median_of(curve, groups.back().back());
      if (std::abs(step) < std::log(merge_ratio)) {
        groups.back().push_back(stretch);
        continue;
      }
    }
    groups.push_back({stretch});
  }
  return groups;
}

// Both in log y.
struct Tolerances {
  double flat;  // range of the flat part of a level
  double edge;  // distance from the level's value that still is "all hit"
  double mode;  // distance at which a mode of the same level may lie
};

// First and last index at the level's value: from the outermost stretches outwards as long as the
// smoothed curve could be a mode of it, then inwards to the first point that really is there.
void find_edges(const LogCurve& curve, Stretch extent, double value, const Tolerances& tolerances,
                Level& level) {
  const auto within = [&](const std::vector<double>& v, std::size_t i, double distance) {
    return std::abs(v[i] - value) <= distance;
  };
  const double mode = tolerances.mode, edge = tolerances.edge;
  while (extent.first > 0 && within(curve.smooth, extent.first - 1, mode)) --extent.first;
  while (extent.last + 1 < curve.v.size() && within(curve.smooth, extent.last + 1, mode))
    ++extent.last;
  while (extent.first < extent.last && !within(curve.v, extent.first, edge)) ++extent.first;
  while (extent.last > extent.first && !within(curve.v, extent.last, edge)) --extent.last;
  level.first = extent.first;
  level.last = extent.last;
}

Level make_level(const LogCurve& curve, std::span<const double> x,
                 const std::vector<Stretch>& stretches, const Tolerances& tolerances) {
  Level level;
  double widest = -1, value = 0;
  Stretch flat;
  for (const Stretch& stretch : stretches) {
    const Stretch part = flat_part(curve, stretch, tolerances.flat);
    const double mode = median_of(curve, part);
    level.modes.push_back({std::exp(mode), x[stretch.first], x[stretch.last]});
    if (width(curve, stretch) <= widest) continue;
    widest = width(curve, stretch);
    value = mode;
    flat = part;
  }
  level.value = std::exp(value);
  level.flat_first = flat.first;
  level.flat_last = flat.last;
  find_edges(curve, {stretches.front().first, stretches.back().last}, value, tolerances, level);
  level.x_first = x[level.first];
  level.x_last = x[level.last];
  return level;
}

// Of two neighbours against the trend, the narrower one is not a level.
void drop_against_trend(std::vector<Level>& levels, Trend trend) {
  for (std::size_t i = 0; i + 1 < levels.size();) {
    const bool in_order = trend == Trend::rising ? levels[i].value < levels[i + 1].value
                                                 : levels[i].value > levels[i + 1].value;
    if (in_order) {
      ++i;
      continue;
    }
    const double here = levels[i].x_last / levels[i].x_first;
    const double next = levels[i + 1].x_last / levels[i + 1].x_first;
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(here < next ? i : i + 1));
    i = i > 0 ? i - 1 : 0;
  }
}

}  // namespace

double level_median(std::span<const double> x, std::span<const double> y) {
  std::vector<std::pair<double, double>> weighted;  // y, weight
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double left = x[i > 0 ? i - 1 : i];
    const double right = x[i + 1 < x.size() ? i + 1 : i];
    weighted.emplace_back(y[i], std::log(right / left));
    total += weighted.back().second;
  }
  std::sort(weighted.begin(), weighted.end());
  double below = 0;
  for (const auto& [value, weight] : weighted) {
    below += weight;
    if (below >= total / 2) return value;
  }
  return weighted.back().first;
}

Staircase detect_levels(std::span<const double> x, std::span<const double> y,
                        const LevelSettings& settings) {
  Staircase staircase;
  const LogCurve curve = log_curve(x, y);
  if (x.size() < settings.min_points) return staircase;
  staircase.noise = noise_of(curve.v);
  const double range = 2 * std::max(std::log1p(settings.band), 2.5 * staircase.noise);
  const Tolerances tolerances{2 * std::max(0.015, 2.5 * staircase.noise),
                              std::max(std::log1p(settings.edge), 3 * staircase.noise),
                              std::log(settings.merge_ratio)};
  std::vector<Stretch> found;
  collect(curve, 0, x.size() - 1, range, settings, found);
  for (const auto& stretches : group(curve, found, settings.merge_ratio)) {
    staircase.levels.push_back(make_level(curve, x, stretches, tolerances));
  }
  drop_against_trend(staircase.levels, settings.trend);
  for (std::size_t i = 0; i + 1 < staircase.levels.size(); ++i) {
    staircase.knees.push_back({staircase.levels[i].x_last, staircase.levels[i + 1].x_first});
  }
  return staircase;
}

}  // namespace warpmeter
