// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// Every CUDA benchmark, one row per quantity. Needs no device and no driver.
std::vector<Benchmark> cuda_benchmarks();

}  // namespace warpmeter
