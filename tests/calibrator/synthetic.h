// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/run.h"

namespace warpmeter::test {

// A machine with known parameters and a run that measured it with noise.
struct Synthetic {
  std::map<std::string, double> truth;  // by parameter name
  Run run;
};

// A host with three cache levels, or a GPU with two. Noise per machine: samples vary by 1 to 3 %,
// 5 % of them are slow outliers (20 % on average, one-sided); each campaign of each point is off by
// 0.5 to 1.5 % and drifts by up to 1 % either way; in 30 % of the machines the clock of all
// points steps once, up to 1.5 % either way, for the last campaigns, fewer than half: the truth is
// the value in the state that most campaigns saw. 4 to 8 campaigns of 7 to 15 samples.
Synthetic synthetic_host(std::uint64_t seed);
Synthetic synthetic_gpu(std::uint64_t seed);

}  // namespace warpmeter::test
