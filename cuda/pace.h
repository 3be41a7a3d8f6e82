// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "core/device.h"

namespace warpmeter {

// How long things take on a device so that timers resolve them and clocks settle. Real silicon
// needs milliseconds and, under power limits, seconds; the emulated GPU has an exact timer and a
// constant clock, and every cycle of it is paid for in host time.
struct Pace {
  double sample_s = 2e-3;                   // at least, of a timed launch
  double sustained_s = 20e-3;               // the same under sustained load
  std::uint64_t probe_cycles = 10'000'000;  // of a clock probe: 5 ms at 2 GHz
  double settle_s = 1.5;                    // at most, until the clock is steady
  // Power capping acts within milliseconds (B200: after about 5 ms), temperature within seconds.
  double first_heat_s = 2.0;
  double later_heat_s = 0.05;
  double rest_s = 0.02;
};

Pace pace_of(const Device& device);

}  // namespace warpmeter
