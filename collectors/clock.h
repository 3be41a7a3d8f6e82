// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <time.h>

#include <cstdint>

namespace warpmeter {

// The clock of all rows: CLOCK_MONOTONIC in ns. CUPTI's own is CLOCK_REALTIME (cupti_activity.h of
// 13.0), which NTP moves.
inline std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace warpmeter
