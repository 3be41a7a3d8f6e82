// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// The CUDA LLM kernels, quantity kernel.time. Needs no device and no driver.
std::vector<Benchmark> cuda_llm_kernels();

}  // namespace warpmeter
