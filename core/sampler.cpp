// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/sampler.h"

#include <cmath>

#include "core/stats.h"

namespace warpmeter {

bool Sampler::wants_more(std::span<const double> samples, double wall_s) const {
  const int count = static_cast<int>(samples.size());
  if (count < settings_.min_samples) return true;
  if (count >= settings_.max_samples || wall_s >= settings_.max_seconds) return false;
  const Summary summary = *summarize(samples);
  const double error = (summary.q3 - summary.q1) / std::sqrt(static_cast<double>(count));
  return error > settings_.target_relative_error * std::fabs(summary.median);
}

}  // namespace warpmeter
