// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// Each family's rows, by the file of that name.
std::vector<Benchmark> cuda_gemm_kernels();
std::vector<Benchmark> cuda_attention_kernels();
std::vector<Benchmark> cuda_row_kernels();
std::vector<Benchmark> cuda_routing_kernels();
std::vector<Benchmark> cuda_collective_kernels();
std::vector<Benchmark> cuda_training_kernels();

// All CUDA LLM kernels, quantity kernel.time. Needs no device and no driver.
std::vector<Benchmark> cuda_llm_kernels();

}  // namespace warpmeter
