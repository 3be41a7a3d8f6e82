// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/gemm_sm90.cuh"
#include "kernels/llm/cuda/launch_gemm.h"

namespace warpmeter {

void launch_gemm_sm90(const GemmShape& shape, const void* activations, const void* weights,
                      void* result, cudaStream_t stream) {
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    launch_sm90<T, T>(shape, shape.type, activations, weights, {}, result, stream);
  });
}

}  // namespace warpmeter
