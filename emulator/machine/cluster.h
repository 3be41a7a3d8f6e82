// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <vector>

namespace emulator {

class Block;
class Warp;

// Blocks that run at the same time, see each other's shared memory and have a barrier.
class Cluster {
 public:
  static constexpr std::uint32_t barrier_number = 16;  // after those of a block

  void arrive(Warp& warp, std::uint32_t mask);
  void wait(Warp& warp, std::uint32_t mask);
  void complete_if_all();

  std::vector<Block*> blocks;  // by rank; null: ended

 private:
  std::uint32_t phase_ = 0;
  bool arrived_ = false;
  std::vector<Warp*> waiters_;
};

}  // namespace emulator
