// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"
#include "microbench/host/team.h"

namespace warpmeter {

// What all cases of the host share: bound threads, and the conditions that every one reports:
// cpus, clock_before_hz and clock_hz (of the first core, before the set-up and after the samples),
// timer_overhead_s, timer_step_s, and what a case adds to `noted_`.
class HostCase : public Case {
 public:
  Json conditions() const override;

 protected:
  explicit HostCase(std::vector<int> cpus);

  mutable Team team_;
  Json noted_ = Json::object();

 private:
  double clock_before_hz_;
};

// Core clock of the first thread of a team, Hz.
double core_clock_hz(Team& team);

// A number that differs from call to call: each case of each campaign gets its own random data.
// Cases record it, so that they can be repeated.
std::uint64_t fresh_seed();

}  // namespace warpmeter
