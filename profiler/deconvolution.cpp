// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/deconvolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/stats.h"
#include "profiler/deconvolution_equations.h"

namespace warpmeter {
namespace {

using Eigen::Index;

constexpr int clock_steps = 3;

// Series that share everything but their values.
struct Part {
  SampleSeries::Kind kind;
  std::vector<bool> valid;
  std::vector<std::size_t> series;
};

std::vector<Part> parts_of(std::span<const SampleSeries> series, std::size_t times) {
  std::vector<Part> parts;
  for (std::size_t s = 0; s < series.size(); ++s) {
    std::vector<bool> valid(times);
    for (std::size_t i = 1; i < times; ++i) valid[i] = std::isfinite(series[s].values[i]);
    const auto same = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
      return part.kind == series[s].kind && part.valid == valid;
    });
    if (same != parts.end())
      same->series.push_back(s);
    else
      parts.push_back({series[s].kind, std::move(valid), {s}});
  }
  return parts;
}

// Which groups have a value, and why not.
class Judge {
 public:
  Judge(const Timeline& timeline, const Unknowns& unknowns, const Equations& equations)
      : timeline_(timeline), unknowns_(unknowns), equations_(equations) {}

  GroupValue value(std::int32_t group, const Solution& solution, Index series, double level) const {
    GroupValue out;
    const Index column = unknowns_.column(1 + group);
    const auto& seen = unknowns_.seen(1 + group);
    out.samples = seen.intervals;
    out.launches = seen.launches;
    if (timeline_.launches(group) == 0) return refuse(out, "no launch has a duration");
    const double alone = seen.time, together = unknowns_.time_together(group);
    if (alone + together <= 0) return refuse(out, "no sample was taken while it ran");
    if (alone < together) {
      out.verdict = Verdict::contaminated;
      return refuse(out, fmt::format("it ran beside other kernels for {:.0f} % of its time",
                                     100 * together / (alone + together)));
    }
    if (column == unknowns_.rest()) return refuse(out, "too many kernels: its time is too small");
    if (equations_.intervals < 2 * equations_.size())
      return refuse(out, "too few samples for so many kernels");
    if (seen.launches < 1) return refuse(out, "less than one launch was sampled");
    const Index partner = solution.confused_with[std::size_t(column)];
    if (partner >= 0) {
      const std::int32_t other = unknowns_.activity(partner);
      if (other > 0 && other <= timeline_.groups()) out.confused_with = other - 1;
      return refuse(out, other == 0 ? "the samples do not tell it from the idle time around it"
                                    : "the samples do not tell it from what always runs next to it "
                                      "in the same proportion");
    }
    const double stretches = equations_.stretches(column);
    if (stretches < 2)
      return refuse(out, "the samples of it are too few to say how far they scatter");
    const double value = solution.values(column, series);
    const double half = student_t(level, stretches - 1) *
                        std::sqrt(solution.variances(column, series) * stretches / (stretches - 1));
    if (!(value + half >= 0)) {
      out.verdict = Verdict::unstable;
      return refuse(out, "the samples contradict the timeline: it would be below 0");
    }
    out.value = std::max(value, 0.0);
    out.low = std::max(value - half, 0.0);
    out.high = value + half;
    if (timeline_.launches(group) < 3)
      out.reason = fmt::format("of {} only: the interval does not hold for others",
                               timeline_.launches(group) == 1 ? "one launch" : "two launches");
    return out;
  }

 private:
  static GroupValue refuse(GroupValue out, const std::string& reason) {
    if (out.verdict == Verdict::ok) out.verdict = Verdict::unsupported;
    out.reason = reason;
    return out;
  }

  const Timeline& timeline_;
  const Unknowns& unknowns_;
  const Equations& equations_;
};

}  // namespace

Deconvolution deconvolve(std::span<const std::int64_t> times, std::span<const SampleSeries> series,
                         Timeline& timeline, const DeconvolutionOptions& given) {
  Deconvolution out;
  DeconvolutionOptions options = given;
  out.values.resize(series.size());
  const std::vector<Part> parts = parts_of(series, times.size());
  std::vector<std::int64_t> shifted(times.begin(), times.end());
  const double prior = 1 / std::pow(std::max(options.offset_sd_ns, 1.0), 2);
  double offset_variance = 0;
  // Of the boundaries' variance, ns²: what is expected is as uncertain as it is large.
  const double expected = std::pow(std::max(given.boundary_sd_ns, 1.0), 2);
  double boundary_uncertainty = 1;  // of the variance, relative: its square
  for (int step = 0; step <= clock_steps; ++step) {
    const bool last = step == clock_steps;
    double slope = 0, curvature = 0, most_of_one = 0;
    ClockEvidence best;
    for (const Part& part : parts) {
      const Unknowns unknowns(shifted, part.valid, timeline, options.most_unknowns);
      std::vector<std::span<const double>> values;
      for (const std::size_t s : part.series) values.emplace_back(series[s].values);
      Equations equations(shifted, part.valid, part.kind, values, unknowns, timeline, options);
      Solution solution = equations.solve(last);
      ClockEvidence evidence = equations.clock_evidence(solution);
      slope += evidence.slope;
      curvature += evidence.curvature;
      most_of_one = std::max(most_of_one, evidence.most_of_one);
      if (!last) {
        if (evidence.boundary_variance < best.boundary_variance) best = std::move(evidence);
        continue;
      }
      solution.variances +=
          offset_variance * evidence.sensitivity.cwiseAbs2() +
          boundary_uncertainty * equations.moved_by_boundaries(solution).cwiseAbs2();
      const Judge judge(timeline, unknowns, equations);
      for (std::size_t i = 0; i < part.series.size(); ++i)
        for (std::int32_t group = 0; group < timeline.groups(); ++group)
          out.values[part.series[i]].push_back(
              judge.value(group, solution, static_cast<Index>(i), options.level));
    }
    if (last) continue;
    // Newton's step. The series share the errors of the clocks, so that all of them together are
    // trusted no more than the one that says most.
    out.clock_offset_ns += (slope - prior * out.clock_offset_ns) / (curvature + prior);
    offset_variance = 1 / (most_of_one + prior);
    const double weight = 1 / (expected * expected), found = 1 / best.boundary_variance;
    const double variance =
        std::max((expected * weight + best.boundary * found) / (weight + found), 1.0);
    options.boundary_sd_ns = std::sqrt(variance);
    boundary_uncertainty = 1 / ((weight + found) * variance * variance);
    for (std::size_t i = 0; i < times.size(); ++i)
      shifted[i] = times[i] + std::llround(out.clock_offset_ns);
  }
  out.boundary_sd_ns = options.boundary_sd_ns;
  out.clock_offset_sd_ns = std::sqrt(offset_variance);
  return out;
}

}  // namespace warpmeter
