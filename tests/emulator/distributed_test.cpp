// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/distributed.h"

#include "tests/emulator/managed.h"
#include "tests/emulator/timing.h"

namespace {

TEST(Distributed, LatencyOfTheOwnAndOfAnotherBlock) {
  constexpr int hops = 1024;
  Managed<std::uint64_t> cycles(1);
  const char* const keys[] = {"/shared/latency", "/shared/cluster_latency"};
  for (int rank = 0; rank < 2; ++rank) {
    run_hop(rank, hops, cycles.get());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_NEAR(static_cast<double>(cycles[0]) / hops, planted(keys[rank]), 0.3);
  }
}

}  // namespace
