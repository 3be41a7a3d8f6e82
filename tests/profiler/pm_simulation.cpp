// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/profiler/pm_simulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace warpmeter {
namespace {

// A positive factor with mean 1.
double factor(std::mt19937_64& random, double cv) {
  return std::max(0.05, std::normal_distribution<double>(1, cv)(random));
}

// What was counted up to a time, and the level then: linear between its points.
class Course {
 public:
  void add(double length, double count, double level) {
    times_.push_back(times_.back() + length);
    counts_.push_back(counts_.back() + count);
    levels_.push_back(levels_.back() + level * length);
  }
  double now() const { return times_.back(); }
  double count(double time) const { return at(counts_, time); }
  double level(double time) const { return at(levels_, time); }

 private:
  double at(const std::vector<double>& values, double time) const {
    const auto above = std::upper_bound(times_.begin(), times_.end(), time);
    if (above == times_.begin()) return values.front();
    if (above == times_.end()) return values.back();
    const auto i = static_cast<std::size_t>(above - times_.begin());
    return values[i - 1] +
           (values[i] - values[i - 1]) * (time - times_[i - 1]) / (times_[i] - times_[i - 1]);
  }
  std::vector<double> times_{0}, counts_{0}, levels_{0};
};

}  // namespace

PmRecording simulate(const PmWorld& world, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> normal(0, 1);
  const auto groups = static_cast<std::size_t>(world.groups);
  PmRecording out;
  std::vector<double> durations, rates;
  for (std::size_t g = 0; g < groups; ++g) {
    const double place = (static_cast<double>(g) + unit(random)) / static_cast<double>(groups);
    durations.push_back(world.shortest_ns * std::pow(world.longest_ns / world.shortest_ns, place));
    rates.push_back(std::pow(10, -2 * unit(random)));
    out.count_truth.push_back(rates[g] * durations[g]);
    out.level_truth.push_back(0.1 + 0.9 * unit(random));
  }
  // Short kernels are frequent.
  std::vector<std::int32_t> pattern(static_cast<std::size_t>(world.pattern));
  for (std::size_t i = 0; i < pattern.size(); ++i)
    pattern[i] = static_cast<std::int32_t>(
        i < groups ? i : static_cast<std::size_t>(double(groups) * unit(random) * unit(random)));
  std::shuffle(pattern.begin(), pattern.end(), random);
  Course course;
  const auto idle = [&](bool first) {
    if (world.steady && !first) return;
    const double gap = world.steady       ? world.gap_ns
                       : world.gap_ns > 0 ? -world.gap_ns * std::log(1 - unit(random)) + 1
                                          : 0;
    if (gap > 0) course.add(gap, gap * world.idle_rate, 0);
  };
  const double offset = out.offset_ns = world.offset_ns * normal(random);
  for (int r = 0; r < world.repeats; ++r) {
    if (world.shuffle) std::shuffle(pattern.begin(), pattern.end(), random);
    for (std::size_t place = 0; place < pattern.size(); ++place) {
      const std::int32_t group = pattern[place];
      const auto g = static_cast<std::size_t>(group);
      idle(place == 0);
      const double start = course.now();
      const double duration = durations[g] * factor(random, world.duration_cv);
      course.add(duration, out.count_truth[g] * factor(random, world.count_cv), out.level_truth[g]);
      out.kernels.push_back(
          {std::llround(start + offset), std::llround(course.now() + offset), group});
    }
  }
  double before = 0;
  for (double at = unit(random) * world.interval_ns; at < course.now(); at += world.interval_ns) {
    const double edge = at + world.jitter_ns * normal(random);
    out.times.push_back(std::llround(at));
    const bool dropped = unit(random) < world.dropped || out.times.size() == 1;
    const double noise = 1 + world.noise * normal(random);
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    out.counts.values.push_back(dropped ? nothing
                                        : noise * (course.count(edge) - course.count(before)));
    out.levels.values.push_back(
        dropped ? nothing : noise * (course.level(edge) - course.level(before)) / (edge - before));
    before = edge;
  }
  out.levels.kind = SampleSeries::Kind::level;
  return out;
}

}  // namespace warpmeter
