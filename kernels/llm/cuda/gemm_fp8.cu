// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/gemm_sm90.cuh"
#include "kernels/llm/cuda/launch_gemm.h"

namespace warpmeter {

// wgmma reads e4m3 with the same descriptors and stages as bf16, 128 elements deep instead of 64;
// mma.sync of e4m3 begins with sm_89, which the tiles of kernel.gemm.prefill must not need.
void launch_gemm_fp8(const GemmShape& shape, const void* activations, const void* weights,
                     const void* token_scales, const void* channel_scales, void* result,
                     cudaStream_t stream) {
  const Scales scales = {static_cast<const float*>(token_scales),
                         static_cast<const float*>(channel_scales)};
  launch_sm90<__nv_fp8_e4m3, __nv_bfloat16>(shape, Element::bf16, activations, weights, scales,
                                            result, stream);
}

}  // namespace warpmeter
