// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <cstdint>

#include "collectors/subscription.h"

namespace warpmeter {

// Counts calls of the driver that launch kernels or graphs, whether the timeline is armed or not:
// the progress of the program while the overhead is measured. A callback and one relaxed increment
// per launch while enabled; nothing otherwise.
class LaunchCount {
 public:
  // Before the subscription's first enable(). `subscription` outlives it, and it the callbacks.
  explicit LaunchCount(Subscription& subscription);
  LaunchCount(const LaunchCount&) = delete;
  LaunchCount& operator=(const LaunchCount&) = delete;

  // Throws InputError. One control thread.
  void enable(bool on);

  std::uint64_t value() const { return count_.load(std::memory_order_relaxed); }

 private:
  Subscription& subscription_;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace warpmeter
