// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "collectors/plan.h"

namespace warpmeter {

// The version whose answers the golden files and the field data hold: CUDA 13.0 Update 1.
constexpr std::uint32_t known_cupti_version = 130001;

inline constexpr Profiler both_profilers[] = {Profiler::range, Profiler::pm};
inline const std::vector<std::string> golden_chips = {"GA100", "GH100", "GB100",
                                                      "GB110", "AD102", "GB202"};

// Tests with the real CUPTI; skipped, with the reason, where there is none.
class WithCupti : public testing::Test {
 protected:
  void SetUp() override;

  // Skips the test if it is not the version above.
  void needs_known_version();

  const CuptiHost* cupti_ = nullptr;
};

// Calls `check(chip)` for every chip, several at a time, each in one thread.
void for_each_chip(const std::vector<std::string>& chips,
                   const std::function<void(const std::string& chip)>& check);

}  // namespace warpmeter
