// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// All microbenchmarks of the host CPU, in the order in which a run takes them.
std::vector<Benchmark> host_benchmarks();

}  // namespace warpmeter
