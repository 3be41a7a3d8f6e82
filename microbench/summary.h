// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <span>

#include "core/measurement.h"
#include "microbench/campaign.h"

namespace warpmeter {

// Joins the campaigns of one point into a measurement: value, interval, verdict with its reason,
// conditions. The verdict is the first that applies of: failed, unsupported (no campaign gave
// samples), above_limit (beyond 1.02 times `limit`), contaminated (half of the campaigns or more),
// throttled (the clock of half of the campaigns is over 5 % below the best), ramping (all campaigns
// drift the same way, by over 3 % and by more than they scatter), multimodal, unstable (interval
// wider than +-20 %), ok.
Measurement summarize_campaigns(const Benchmark& benchmark, const Parameters& parameters,
                                std::span<const Campaign> campaigns, std::optional<double> limit);

}  // namespace warpmeter
