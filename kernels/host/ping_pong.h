// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace warpmeter {

// One cache line that two threads hand to each other; 128 B apart from everything else, because
// adjacent lines are fetched in pairs.
struct alignas(128) Ball {
  std::atomic<std::uint64_t> count{0};
};

// Each of two threads calls this with its rank (0 or 1) and the count before: it waits for its turn
// and adds one, `turns` times. The count afterwards is 2 * turns more.
void ping_pong(Ball& ball, std::uint64_t rank, std::uint64_t before, std::size_t turns);

}  // namespace warpmeter
