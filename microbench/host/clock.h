// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <functional>

namespace warpmeter {

// Seconds of a monotonic clock (CLOCK_MONOTONIC).
double now_s();

// What the clock can resolve, measured once: the cost of a reading and the smallest step seen.
struct ClockFacts {
  double overhead_s = 0;
  double step_s = 0;
};
const ClockFacts& clock_facts();

// Shortest time worth a sample: a millisecond, or 1000 readings of a slow clock.
double shortest_sample_s();

// The number of repetitions that takes at least shortest_sample_s(), with a fifth in reserve.
// `elapsed_s` runs that many and returns the time they took.
std::size_t calibrate(const std::function<double(std::size_t repetitions)>& elapsed_s);

// Core clock of the calling thread, from a chain of dependent one-cycle additions that runs for
// about `duration_s`: the fastest of three, because interruptions only slow it down. Hz.
double core_clock_hz(double duration_s = 20e-6);

}  // namespace warpmeter
