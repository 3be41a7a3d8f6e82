// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/load.h"

#include <thread>

namespace warpmeter {
namespace {

// Power capping acts within milliseconds (B200: after about 5 ms), temperature within seconds.
constexpr double first_heat_s = 2.0;
constexpr double later_heat_s = 0.05;
constexpr auto rest = std::chrono::milliseconds(20);

}  // namespace

Load load_of(const Parameters& parameters) {
  Load load;
  load.scope = word(parameters, "scope").value_or(load.scope);
  load.phase = word(parameters, "phase").value_or(load.phase);
  return load;
}

void Phase::prepare(const std::function<void()>& run) {
  if (!load_.sustained()) {
    std::this_thread::sleep_for(rest);
    return;
  }
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::chrono::duration<double> heat(heated_ ? later_heat_s : first_heat_s);
  while (Clock::now() - begin < heat) run();
  heated_ = true;
}

}  // namespace warpmeter
