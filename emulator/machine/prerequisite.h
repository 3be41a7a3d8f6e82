// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <vector>

namespace emulator {

class Warp;

// What a grid that was launched before the end of the work ahead of it waits for with
// griddepcontrol.wait.
struct Prerequisite {
  static constexpr std::uint32_t barrier_number = 18;  // after that of the register pool
  bool done = false;
  std::vector<Warp*> waiters;
};

}  // namespace emulator
