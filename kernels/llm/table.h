// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// The LLM kernels that run on the host CPU, one row per kernel, quantity `kernel.time`
// (docs/kernels.md). Only bf16 without AVX512_BF16 and a point that needs more than the available
// memory are unsupported.
std::vector<Benchmark> host_llm_kernels();

}  // namespace warpmeter
