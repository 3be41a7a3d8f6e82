// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/host/ping_pong.h"

namespace warpmeter {

void ping_pong(Ball& ball, std::uint64_t rank, std::uint64_t before, std::size_t turns) {
  for (std::uint64_t mine = before + rank; turns != 0; --turns, mine += 2) {
    while (ball.count.load(std::memory_order_acquire) != mine) {
    }
    ball.count.store(mine + 1, std::memory_order_release);
  }
}

}  // namespace warpmeter
