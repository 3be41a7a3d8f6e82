// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/table.h"

namespace warpmeter {

std::vector<Benchmark> cuda_llm_kernels() {
  std::vector<Benchmark> table;
  const auto families = {
      cuda_gemm_kernels,     cuda_attention_kernels, cuda_row_kernels,
      cuda_cache_kernels,    cuda_routing_kernels,   cuda_training_kernels,
      cuda_quantize_kernels, cuda_sample_kernels,    cuda_collective_kernels,
#ifdef WARPMETER_CUBLASLT
      cuda_library_kernels,
#endif
#ifdef WARPMETER_CUDNN
      cuda_cudnn_kernels,
#endif
  };
  for (const auto& family : families)
    for (Benchmark& row : family()) table.push_back(std::move(row));
  return table;
}

}  // namespace warpmeter
