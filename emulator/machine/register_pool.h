// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <deque>

namespace emulator {

class Warp;

// Registers that warps of a block have given up with setmaxnreg, for others to take. All counts
// are per thread.
class RegisterPool {
 public:
  static constexpr std::uint32_t barrier_number = 17;  // after that of the cluster

  // A warp that gives up what it has above `count`. False if it has less.
  bool release(Warp& warp, std::uint32_t count);
  // The warp goes on when it has `count`, which may be at once. False if it has more.
  bool take(Warp& warp, std::uint32_t count, std::uint32_t mask);

 private:
  struct Waiter {
    Warp* warp;
    std::uint32_t count;
  };
  bool grant(Warp& warp, std::uint32_t count);

  std::uint32_t free_ = 0;
  std::deque<Waiter> waiters_;  // in the order in which they asked
};

}  // namespace emulator
