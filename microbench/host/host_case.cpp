// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/host_case.h"

#include <atomic>
#include <utility>

#include "kernels/host/random.h"
#include "microbench/host/clock.h"

namespace warpmeter {

HostCase::HostCase(std::vector<int> cpus)
    : team_(std::move(cpus)), clock_before_hz_(core_clock_hz(team_)) {}

Json HostCase::conditions() const {
  Json conditions = noted_;
  conditions["cpus"] = team_.cpus();
  conditions["clock_before_hz"] = clock_before_hz_;
  conditions["clock_hz"] = core_clock_hz(team_);
  conditions["timer_overhead_s"] = clock_facts().overhead_s;
  conditions["timer_step_s"] = clock_facts().step_s;
  return conditions;
}

double core_clock_hz(Team& team) {
  double clock_hz = 0;
  team.run([&](int rank) {
    if (rank == 0) clock_hz = core_clock_hz();
  });
  return clock_hz;
}

std::uint64_t fresh_seed() {
  static std::atomic<std::uint64_t> calls{0};
  return mix(++calls) >> 11;  // 53 bits, exact in JSON readers that know doubles only
}

}  // namespace warpmeter
