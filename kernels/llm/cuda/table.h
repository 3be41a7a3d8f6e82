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
std::vector<Benchmark> cuda_cache_kernels();
std::vector<Benchmark> cuda_quantize_kernels();
std::vector<Benchmark> cuda_sample_kernels();
std::vector<Benchmark> cuda_routing_kernels();
std::vector<Benchmark> cuda_collective_kernels();
std::vector<Benchmark> cuda_training_kernels();
std::vector<Benchmark> cuda_library_kernels();  // NVIDIA's libraries
std::vector<Benchmark> cuda_cudnn_kernels();

// One row, kernel.step: the steps of a stack of layers that `points` describe (layer_stack.h).
std::vector<Benchmark> cuda_step(std::vector<Parameters> points);

// All CUDA LLM kernels, quantity kernel.time. Needs no device and no driver.
std::vector<Benchmark> cuda_llm_kernels();

}  // namespace warpmeter
