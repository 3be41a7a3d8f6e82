// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <span>
#include <vector>

#include "cuda/pace.h"
#include "cuda/stamp.h"

namespace warpmeter {

// The clocks of the SMs that ran the stamped blocks, each d(clock64)/d(globaltimer) of that SM.
struct ClockReading {
  double hz = 0;         // median over SMs
  double lowest_hz = 0;  // over SMs
  double highest_hz = 0;
  double cycles = 0;     // median over blocks, of the timed loop
  double seconds = 0;    // median over blocks
  double span_s = 0;     // from the first block's begin to the last block's end
  std::vector<int> sms;  // ids seen, ascending
};

// Null if no block was stamped or none took a measurable time.
std::optional<ClockReading> read_stamps(std::span<const Stamp> stamps);

// The smallest step of %globaltimer in seconds (32 ns to about 1 us on real devices). Synchronises.
double timer_resolution_s(cudaStream_t stream);

// One light block per SM, until the clock changes by less than 0.5 % over five readings or
// `pace.settle_s` is over: brings an idle device out of its low clocks before anything is timed.
struct Settling {
  double hz = 0;
  double seconds = 0;  // how long it took
  bool settled = false;
};
Settling settle_clock(cudaStream_t stream, int sm_count, const Pace& pace);

// The ids of the SMs that blocks can run on, by a launch of several blocks per SM. Ids may have
// gaps.
std::vector<int> visible_sms(cudaStream_t stream, int sm_count);

}  // namespace warpmeter
