// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/load.h"

#include <thread>

namespace warpmeter {

Load load_of(const Parameters& parameters) {
  Load load;
  load.scope = word(parameters, "scope").value_or(load.scope);
  load.phase = word(parameters, "phase").value_or(load.phase);
  return load;
}

void Phase::prepare(const std::function<void()>& run) {
  if (!load_.sustained()) {
    std::this_thread::sleep_for(std::chrono::duration<double>(pace_.rest_s));
    return;
  }
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::chrono::duration<double> heat(heated_ ? pace_.later_heat_s : pace_.first_heat_s);
  while (Clock::now() - begin < heat) run();
  heated_ = true;
}

}  // namespace warpmeter
