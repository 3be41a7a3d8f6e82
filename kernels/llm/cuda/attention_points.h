// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// Points of the attention kernels on GPUs, up to `effort`: the host's, with f16 in place of f32,
// and some that only these kernels can do. The split goes by (model, context), as docs/kernels.md
// says.

// Prompts of as many tokens as the contexts of decoding.
std::vector<Parameters> attention_prefill_points(int threads, Effort effort);

// Those with heads of 128.
std::vector<Parameters> attention_sm90_points(int threads, Effort effort);

// With `page`, and `cache`, the type of the cache.
std::vector<Parameters> attention_decode_points(int threads, Effort effort);

// DeepSeek-V3 with all heads, and with the 16 of one of eight GPUs that share a layer.
std::vector<Parameters> attention_mla_points(int threads, Effort effort);

}  // namespace warpmeter
