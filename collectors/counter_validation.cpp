// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/counter_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/stats.h"

namespace warpmeter {
namespace {

constexpr std::array<std::string_view, 6> names = {"ok",      "doubled", "halved",
                                                   "missing", "wrong",   "uncertain"};

struct Point {
  double inverse, ratio;  // 1 / expected, counted / expected
};

std::vector<Point> points_of(const std::vector<KnownWork>& runs) {
  std::vector<Point> points;
  for (const KnownWork& run : runs)
    if (run.counted && run.expected > 0)
      points.push_back({1 / run.expected, *run.counted / run.expected});
  return points;
}

void fit(const std::vector<Point>& points, CounterCheck& out) {
  const double count = static_cast<double>(points.size());
  double x = 0, y = 0;
  for (const Point& p : points) {
    x += p.inverse / count;
    y += p.ratio / count;
  }
  double xx = 0, xy = 0;
  for (const Point& p : points) {
    xx += (p.inverse - x) * (p.inverse - x);
    xy += (p.inverse - x) * (p.ratio - y);
  }
  // Sizes of work that differ by rounding only are one size.
  if (points.size() < 2 || xx <= 1e-12 * x * x * count) return;
  const double offset = xy / xx, gain = y - offset * x;
  out.gain = gain;
  out.offset = offset;
  if (points.size() < 3) return;
  double squares = 0;
  for (const Point& p : points) squares += std::pow(p.ratio - gain - offset * p.inverse, 2);
  const double variance = squares / (count - 2);
  const double t = student_t(default_level, count - 2);
  const double of_gain = t * std::sqrt(variance * (1 / count + x * x / xx));
  const double of_offset = t * std::sqrt(variance / xx);
  out.gain_interval = Interval{gain - of_gain, gain + of_gain};
  out.offset_interval = Interval{offset - of_offset, offset + of_offset};
}

// The smallest offset that its interval allows, without sign.
double sure_offset(const Interval& offset) {
  if (offset.lo <= 0 && offset.hi >= 0) return 0;
  return std::min(std::abs(offset.lo), std::abs(offset.hi));
}

}  // namespace

std::string_view to_string(CounterVerdict verdict) {
  return names[static_cast<std::size_t>(verdict)];
}

CounterCheck check_counter(const std::vector<KnownWork>& runs) {
  CounterCheck out;
  const std::vector<Point> points = points_of(runs);
  if (std::all_of(points.begin(), points.end(), [](const Point& p) { return p.ratio == 0; })) {
    out.verdict = CounterVerdict::missing;
    out.reason = points.empty() ? "it gave no value" : "it counted nothing of work that was done";
    return out;
  }
  fit(points, out);
  if (!out.gain_interval) {
    out.reason = "it takes three runs with at least two sizes of work";
    return out;
  }
  const double gain = *out.gain, width = out.gain_interval->hi - out.gain_interval->lo;
  out.verdict = CounterVerdict::wrong;
  out.reason = fmt::format("it counts {:.4g} times the work", gain);
  for (const auto& [target, verdict] :
       {std::pair(1.0, CounterVerdict::ok), std::pair(2.0, CounterVerdict::doubled),
        std::pair(0.5, CounterVerdict::halved)}) {
    if (std::abs(gain / target - 1) <= gain_tolerance) {
      out.verdict = verdict;
      if (verdict == CounterVerdict::ok) out.reason.clear();
    }
  }
  if (width > 2 * gain_tolerance * std::abs(gain)) {
    out.verdict = CounterVerdict::uncertain;
    out.reason =
        fmt::format("it counts {:.4g} times the work, known to {:.2g} only", gain, width / 2);
    return out;
  }
  double smallest = HUGE_VAL;
  for (const Point& p : points) smallest = std::min(smallest, 1 / p.inverse);
  if (sure_offset(*out.offset_interval) > gain_tolerance * smallest) {
    out.verdict = CounterVerdict::wrong;
    out.reason = fmt::format("it counts {:.4g} more than {:.4g} times the work", *out.offset, gain);
  }
  return out;
}

}  // namespace warpmeter
