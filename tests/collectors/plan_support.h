// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collectors/plan.h"

namespace warpmeter {

// The version whose answers the golden files and the field data hold: CUDA 13.0 Update 1.
constexpr std::uint32_t known_cupti_version = 130001;

inline constexpr Profiler both_profilers[] = {Profiler::range, Profiler::pm};
inline const std::vector<std::string> golden_chips = {"GA100", "GH100", "GB100",
                                                      "GB110", "AD102", "GB202"};

// All that this version knows (research/cupti_metrics.md, section 1).
inline const std::vector<std::string> known_chips = {
    "GV100", "GV11B", "TU102", "TU104", "TU106", "TU116", "TU117", "GA100", "GA102", "GA103",
    "GA104", "GA106", "GA107", "GA10B", "GH100", "AD102", "AD103", "AD104", "AD106", "AD107",
    "GB100", "GB102", "GB110", "GB10B", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B"};

// Tests with the real CUPTI; skipped, with the reason, where there is none.
class WithCupti : public testing::Test {
 protected:
  void SetUp() override;

  // Skips the test if it is not the version above.
  void needs_known_version();

  const CuptiHost* cupti_ = nullptr;
};

}  // namespace warpmeter
