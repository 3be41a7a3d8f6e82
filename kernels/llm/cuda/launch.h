// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/llm/shapes.h"

namespace warpmeter {

// One launch of each kernel, on device pointers aligned to 16 bytes, by the file that defines it;
// the algorithm stands there, formulas and work in kernels/llm/<kernel>.h. Each throws CudaError if
// the launch failed.

// The most columns of a row that stays in the registers of one block.
inline constexpr std::int64_t columns_in_registers = 16 * 1024;

// x, y [rows, columns], gain [columns]; f32, bf16 or f16; at most columns_in_registers columns.
void launch_rms_norm(const RowsShape& shape, const void* x, const void* gain, void* y,
                     cudaStream_t stream);

// h = x + residual, y = the norm of h; x, residual, h, y [rows, columns], none of them the same.
void launch_rms_norm_residual(const RowsShape& shape, const void* x, const void* residual,
                              const void* gain, void* h, void* y, cudaStream_t stream);

// x, y [rows, columns], gain, bias [columns]; f32, bf16 or f16; at most columns_in_registers
// columns.
void launch_layer_norm(const RowsShape& shape, const void* x, const void* gain, const void* bias,
                       void* y, cudaStream_t stream);

// h = x + residual, y = the norm of h, as above.
void launch_layer_norm_residual(const RowsShape& shape, const void* x, const void* residual,
                                const void* gain, const void* bias, void* h, void* y,
                                cudaStream_t stream);

// x, y [rows, columns]; f32, bf16 or f16.
void launch_softmax(const RowsShape& shape, const void* x, void* y, cudaStream_t stream);

// gate, up, y [rows, columns]; f32, bf16 or f16. Packed: gate_up [rows, 2 columns], gate first.
void launch_swiglu(const RowsShape& shape, const void* gate, const void* up, void* y,
                   cudaStream_t stream);
void launch_swiglu_packed(const RowsShape& shape, const void* gate_up, void* y,
                          cudaStream_t stream);
void launch_geglu(const RowsShape& shape, const void* gate, const void* up, void* y,
                  cudaStream_t stream);
void launch_geglu_packed(const RowsShape& shape, const void* gate_up, void* y, cudaStream_t stream);

// x, y [tokens, heads, head_size] with the shape's stride from token to token, y == x allowed;
// positions [tokens] of i32, cosines and sines f32 [positions, head_size / 2]; f32, bf16 or f16;
// even head sizes.
void launch_rope(const RopeShape& shape, const void* x, const void* positions, const void* cosines,
                 const void* sines, void* y, cudaStream_t stream);

// Keys and values out of packed rows qkv [tokens, (heads + 2 kv_heads) head_size], with the shape's
// stride, to slots [tokens] of i32 (negative: none) of the caches [pages, kv_heads, page_size,
// head_size]; bf16 or f16, caches the same or e4m3, then divided by scales [2] of f32.
void launch_kv_append(const KvAppendShape& shape, const void* qkv, const void* slots,
                      const void* scales, void* k_cache, void* v_cache, cudaStream_t stream);

// x [rows, columns] of bf16 or f16, y the same of e4m3; scales of f32 [rows], or per block [rows,
// columns / 128 rounded up]. Per token at most columns_in_registers columns.
void launch_quantize_token(const RowsShape& shape, const void* x, void* y, void* scales,
                           cudaStream_t stream);
void launch_quantize_block(const RowsShape& shape, const void* x, void* y, void* scales,
                           cudaStream_t stream);

// logits [rows, vocabulary] and uniforms [rows] of f32, tokens [rows] of i32; fewer than 2^23
// logits.
void launch_sample(const SampleShape& shape, const void* logits, const void* uniforms, void* tokens,
                   cudaStream_t stream);

// ids [rows] of i32, table [vocabulary, columns], y [rows, columns]; any type.
void launch_gather(const GatherShape& shape, const void* ids, const void* table, void* y,
                   cudaStream_t stream);

// activations [m, k], weights [n, k] (as torch.nn.Linear keeps them), result [m, n]; bf16 or f16.
// For few tokens: at most 64.
inline constexpr std::int64_t most_decode_tokens = 64;
void launch_gemm_decode(const GemmShape& shape, const void* activations, const void* weights,
                        void* result, cudaStream_t stream);

// The same for any number of tokens; fast for many.
void launch_gemm_prefill(const GemmShape& shape, const void* activations, const void* weights,
                         void* result, cudaStream_t stream);

}  // namespace warpmeter
