// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <span>
#include <string>

#include "calibrator/p_norm_fit.h"

namespace warpmeter {

// Little's law: the bandwidth X reached with n bytes in flight, X(n) = n / (Lat^p + (n/B)^p)^(1/p).
// Few bytes in flight show the latency (X = n/Lat), many show the bandwidth (X = B). A side that
// the points do not reach is null, with the reason.
struct Saturation {
  std::optional<double> bandwidth;    // B, B/s
  std::optional<double> latency;      // Lat, s
  std::optional<double> concurrency;  // B Lat, bytes in flight at the knee
  std::string bandwidth_reason, latency_reason;
  std::optional<PNormFit> fit;  // null if a side is missing or there are fewer than 4 points
};

// in_flight [B] must rise, bandwidth [B/s] be positive. `start` speeds up refits of similar data.
Saturation fit_saturation(std::span<const double> in_flight, std::span<const double> bandwidth,
                          std::optional<PNorm> start = std::nullopt);

}  // namespace warpmeter
