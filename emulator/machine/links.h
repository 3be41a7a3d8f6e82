// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <vector>

#include "emulator/machine/chip.h"

namespace emulator {

// A server that works through requests in the order of their arrival. Times are cycles.
class Queue {
 public:
  // When a request that arrives at `now` and takes `cost` begins.
  double begin(double now, double cost) {
    const double start = now > free_ ? now : free_;
    free_ = start + cost;
    return start;
  }
  double free_at() const { return free_; }

 private:
  double free_ = 0;
};

// What kernels move between devices: for every pair a wire each way, of the chip's rate.
class Links {
 public:
  explicit Links(const Chip& chip)
      : devices_(static_cast<std::size_t>(chip.devices)),
        bytes_per_cycle_(chip.peer_bytes_per_second / chip.sm_hz),
        wires_(devices_ * devices_) {}

  // When `bytes` that are ready at `now` begin to move.
  double begin(int from, int to, double now, double bytes) {
    Queue& wire = wires_[static_cast<std::size_t>(from) * devices_ + static_cast<std::size_t>(to)];
    return wire.begin(now, bytes / bytes_per_cycle_);
  }

 private:
  std::size_t devices_;
  double bytes_per_cycle_;
  std::vector<Queue> wires_;
};

}  // namespace emulator
