// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "collectors/cupti_api.h"

namespace warpmeter {

// CUPTI's clock against CLOCK_MONOTONIC. Time stamps of PM samples come in the clock of
// cuptiGetTimestamp, through the conversion that kernel records take (docs/pm_sampling.md). Where
// the session's callback gives CUPTI CLOCK_MONOTONIC the two are the same; this finds out, and
// otherwise interpolates between readings of both, so that a drift is followed. Not thread-safe.
class PmClock {
 public:
  // `virtual_time`: on the emulated GPU, where threads that do not use the runtime read another
  // CLOCK_MONOTONIC than those that do: nothing is compared, CUPTI's clock is the host's.
  PmClock(const CuptiApi& api, bool virtual_time) : api_(api), virtual_time_(virtual_time) {}

  // Reads CUPTI's clock between two readings of the host's, the tightest of ten. Throws InputError
  // if CUPTI does not tell the time.
  void read();

  // On the line between the last two readings; before and behind them at the nearer one's offset.
  std::int64_t to_host(std::uint64_t cupti_ns) const;

  // Host minus CUPTI at the last reading; exactly 0 if CUPTI's time lay between the host's two.
  std::int64_t offset_ns() const { return last_.offset; }

  // Half of the widest bracket so far, in ns: the conversion's share of the error. What CUPTI adds
  // when it converts the GPU's time is not in it.
  std::int64_t uncertainty_ns() const { return uncertainty_; }

 private:
  struct Reading {
    std::int64_t cupti = 0, offset = 0;
  };
  const CuptiApi& api_;
  const bool virtual_time_;
  Reading before_, last_;
  bool any_ = false;
  std::int64_t uncertainty_ = 0;
};

}  // namespace warpmeter
