// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/table.h"

#include "microbench/host/rows.h"

namespace warpmeter {

std::vector<Benchmark> host_benchmarks() {
  return {core_clock(),     chase_latency(),   loaded_latency(),       in_flight_bandwidth(),
          read_bandwidth(), write_bandwidth(), copy_bandwidth(),       triad_bandwidth(),
          fma_latency(),    fma_throughput(),  core_to_core_latency(), fork_join()};
}

}  // namespace warpmeter
