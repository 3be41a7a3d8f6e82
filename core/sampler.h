// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <span>

namespace warpmeter {

// Decides how many samples one campaign takes: at least `min_samples`; then until the interquartile
// range over the square root of the count is below `target_relative_error` of the median, or
// `max_samples`, or `max_seconds` of wall time.
class Sampler {
 public:
  struct Settings {
    int min_samples = 7;
    int max_samples = 40;
    double target_relative_error = 0.002;
    double max_seconds = 0.05;
  };

  Sampler() = default;
  explicit Sampler(const Settings& settings) : settings_(settings) {}

  // `wall_s` is the time since the campaign's first sample began.
  bool wants_more(std::span<const double> samples, double wall_s) const;

  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
};

}  // namespace warpmeter
