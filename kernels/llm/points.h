// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// The shapes of each family, with `split` fixed per group of shapes: a group (docs/kernels.md) is
// never on both sides. `quick` is a subset of `standard`, and `standard` of `thorough`.
std::vector<Parameters> gemm_prefill_points(int threads, Effort effort);
std::vector<Parameters> gemm_decode_points(int threads, Effort effort);
std::vector<Parameters> gemm_sm90_points(int threads, Effort effort);     // on GPUs only
std::vector<Parameters> gemm_fp8_points(int threads, Effort effort);      // on GPUs only
std::vector<Parameters> gemm_int8_points(int threads, Effort effort);     // on GPUs only
std::vector<Parameters> gemm_int4_points(int threads, Effort effort);     // on GPUs only
std::vector<Parameters> gemm_grouped_points(int threads, Effort effort);  // on GPUs only
std::vector<Parameters> attention_points(int threads, Effort effort);
std::vector<Parameters> softmax_points(int threads, Effort effort);
std::vector<Parameters> rms_norm_points(int threads, Effort effort);
std::vector<Parameters> rope_points(int threads, Effort effort);  // on GPUs only
std::vector<Parameters> swiglu_points(int threads, Effort effort);
std::vector<Parameters> gather_points(int threads, Effort effort);

// Kernels that exist on GPUs only (points_gpu_rows.cpp).
std::vector<Parameters> quantize_token_points(int threads, Effort effort);
std::vector<Parameters> quantize_block_points(int threads, Effort effort);
std::vector<Parameters> sample_points(int threads, Effort effort);
std::vector<Parameters> kv_append_points(int threads, Effort effort);
std::vector<Parameters> swiglu_packed_points(int threads, Effort effort);
std::vector<Parameters> geglu_points(int threads, Effort effort);
std::vector<Parameters> geglu_packed_points(int threads, Effort effort);
std::vector<Parameters> rope_packed_points(int threads, Effort effort);
std::vector<Parameters> rms_norm_residual_points(int threads, Effort effort);
std::vector<Parameters> layer_norm_points(int threads, Effort effort);
std::vector<Parameters> layer_norm_residual_points(int threads, Effort effort);

}  // namespace warpmeter
