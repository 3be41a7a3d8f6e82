// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "core/interval.h"

namespace warpmeter {

// t(n) = (a^p + (n/B)^p)^(1/p): a fixed cost a and a rate B that overlap (p > 1), add up (p = 1) or
// hinder each other (p < 1). Transfer times and, with t = n / X, Little's law share this form.
struct PNorm {
  double a = 0;  // s
  double b = 0;  // B/s
  double p = 1;
  double operator()(double n) const;  // s
};

struct PNormSettings {
  double p_min = 0.2, p_max = 30;
  std::optional<double> b_max = std::nullopt;  // a physical ceiling of B, B/s
  std::optional<PNorm> start = std::nullopt;   // else several starts are tried
};

struct PNormFit {
  PNorm form;
  double rms = 0;  // of log t about the form
  // Of ln a, ln B, ln p, with residuals whitened by rms; null if the Jacobian's rank is below 3 or
  // a bound is active, because it is meaningless then (`why` says which).
  std::optional<std::array<std::array<double, 3>, 3>> covariance;
  std::string why;
  int rank = 3;
};

// Least squares in log t. Null for fewer than 4 points or if no start converges. sizes and times
// must be positive (std::invalid_argument).
std::optional<PNormFit> fit_p_norm(std::span<const double> sizes, std::span<const double> times,
                                   const PNormSettings& settings = {});

// Interval of a (index 0) or B (index 1) from the covariance at `level`; null without a covariance.
std::optional<Interval> covariance_interval(const PNormFit& fit, int index, std::size_t points,
                                            double level = default_level);

}  // namespace warpmeter
