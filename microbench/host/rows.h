// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "core/benchmark.h"

namespace warpmeter {

// The rows of the table, one function per file of the same name.
Benchmark chase_latency();
Benchmark loaded_latency();
Benchmark in_flight_bandwidth();
Benchmark read_bandwidth();
Benchmark write_bandwidth();
Benchmark copy_bandwidth();
Benchmark triad_bandwidth();
Benchmark fma_throughput();
Benchmark fma_latency();
Benchmark core_clock();
Benchmark core_to_core_latency();
Benchmark fork_join();

}  // namespace warpmeter
