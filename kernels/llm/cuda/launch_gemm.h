// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/llm/shapes.h"

namespace warpmeter {

// One launch of each matrix product beyond those of launch.h, in the same way: on device pointers
// aligned to 16 bytes, by the file that defines it. Each throws CudaError if the launch failed.

// activations [m, k], weights [n, k], result [m, n]; bf16 or f16; k and n multiples of 8. Compute
// capability 9.0 only (wgmma).
void launch_gemm_sm90(const GemmShape& shape, const void* activations, const void* weights,
                      void* result, cudaStream_t stream);

// activations [m, k], weights [n, k] of e4m3; token_scales [m], channel_scales [n] of f32, result
// [m, n] of bf16; k a multiple of 16, n of 8. Compute capability 9.0 only (wgmma).
void launch_gemm_fp8(const GemmShape& shape, const void* activations, const void* weights,
                     const void* token_scales, const void* channel_scales, void* result,
                     cudaStream_t stream);

// The same of int8, any n and k < 2^17, on all devices.
void launch_gemm_int8(const GemmShape& shape, const void* activations, const void* weights,
                      const void* token_scales, const void* channel_scales, void* result,
                      cudaStream_t stream);

// activations [m, k] and result [m, n] of bf16 or f16, weights [n, k] of 4 bits and groups [n, k /
// 128, 2] as kernels/llm/gemm_int4.h lays them out; k a multiple of 128, at most most_decode_tokens
// tokens (launch.h).
void launch_gemm_int4(const GemmShape& shape, const void* activations, const void* weights,
                      const void* groups, void* result, cudaStream_t stream);

// activations [rows, k], weights [experts, n, k], result [rows, n] of bf16 or f16, offsets [experts
// + 1] of i32 (kernels/llm/gemm_grouped.h); any n and k. The device finds the tiles from the
// offsets.
void launch_gemm_grouped(const GroupedGemmShape& shape, const void* activations,
                         const void* weights, const void* offsets, void* result,
                         cudaStream_t stream);

}  // namespace warpmeter
