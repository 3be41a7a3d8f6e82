// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/interval.h"
#include "core/measurement.h"
#include "profiler/timeline_sweep.h"

namespace warpmeter {

// Values of one counter over the intervals that end at the samples' times. Not finite: not counted.
struct SampleSeries {
  enum class Kind {
    count,  // how much was counted in the interval; wanted: per launch
    level   // mean over the interval (a share, a rate, a clock); wanted: mean while the group runs
  };
  Kind kind = Kind::count;
  std::vector<double> values;  // one per time; the first has no interval and is not used
};

struct DeconvolutionOptions {
  double level = default_level;
  // Standard deviations, in ns: of the offset between the samples' and the launches' clock, and of
  // what each boundary of an interval is off beside it, both as expected before they are estimated.
  double offset_sd_ns = 1000, boundary_sd_ns = 100;
  std::int32_t most_unknowns = 1500;  // memory is 8 bytes times its square, thrice
};

// What a group of launches is worth in one counter.
struct GroupValue {
  std::optional<double> value, low, high;  // null with a reason
  std::int64_t samples = 0;                // intervals in which it ran alone, in part or all
  double launches = 0;                     // seen in them
  Verdict verdict = Verdict::ok;
  std::string reason;
  std::optional<std::int32_t> confused_with;  // the group that it cannot be told from
};

struct Deconvolution {
  std::vector<std::vector<GroupValue>> values;  // per series, per group
  // What must be added to the samples' times, as estimated from all series.
  double clock_offset_ns = 0, clock_offset_sd_ns = 0;
  double boundary_sd_ns = 0;  // of each boundary beside that, as estimated
};

// In each interval a count is modelled as the sum over activities (idle, a
// group alone, groups at once) of the count per launch, or per ns, times the launches, or ns, of it
// in the interval; a level as the mean of the activities' levels, weighted with their time. Least
// squares corrected for the uncertainty of the boundaries, intervals from stretches of the
// recording that are independent of each other. Formulas, sources and assumptions:
// docs/pm_sampling.md. Nothing is known of a group (null, with the reason) that was not sampled,
// that mostly ran beside others, or that cannot be told from its neighbours. Takes O(samples) and
// memory as said above.
Deconvolution deconvolve(std::span<const std::int64_t> times, std::span<const SampleSeries> series,
                         Timeline& timeline, const DeconvolutionOptions& options = {});

}  // namespace warpmeter
