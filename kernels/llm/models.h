// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

namespace warpmeter {

// The numbers of a model's configuration from which kernel shapes follow (docs/kernels.md).
struct LlmModel {
  const char* name;
  std::int64_t hidden;
  std::int64_t intermediate;  // of one expert in a mixture of experts
  std::int64_t heads, kv_heads, head_size;
  std::int64_t experts;  // 0: dense
  std::int64_t vocabulary;
};

// config.json of meta-llama/Meta-Llama-3-8B: hidden_size, intermediate_size, num_attention_heads,
// num_key_value_heads, vocab_size; head_dim = hidden_size / num_attention_heads.
inline constexpr LlmModel llama3_8b = {"Llama-3-8B", 4096, 14336, 32, 8, 128, 0, 128256};

// config.json of Qwen/Qwen3-30B-A3B: hidden_size, moe_intermediate_size, ..., head_dim (here not
// hidden_size / heads), num_experts (8 per token), vocab_size.
inline constexpr LlmModel qwen3_30b_a3b = {"Qwen3-30B-A3B", 2048, 768, 32, 4, 128, 128, 151936};

// config.json of bigcode/starcoder2-7b and -3b: LayerNorm with a bias (norm_epsilon 1e-5).
inline constexpr LlmModel starcoder2_7b = {"StarCoder2-7B", 4608, 18432, 36, 4, 128, 0, 49152};
inline constexpr LlmModel starcoder2_3b = {"StarCoder2-3B", 3072, 12288, 24, 2, 128, 0, 49152};

// config.json of google/gemma-2b and -7b: GeGLU with gelu_pytorch_tanh.
inline constexpr LlmModel gemma_2b = {"Gemma-2B", 2048, 16384, 8, 1, 256, 0, 256000};
inline constexpr LlmModel gemma_7b = {"Gemma-7B", 3072, 24576, 16, 16, 256, 0, 256000};

// config.json of deepseek-ai/DeepSeek-V3; head_size is v_head_dim, the cache has one row for all
// heads (attention_mla.h).
inline constexpr LlmModel deepseek_v3 = {"DeepSeek-V3", 7168, 2048, 128, 128, 128, 256, 129280};

// Columns of the weights of a layer's linear maps.
constexpr std::int64_t qkv_columns(const LlmModel& m) {
  return (m.heads + 2 * m.kv_heads) * m.head_size;
}
constexpr std::int64_t attention_columns(const LlmModel& m) { return m.heads * m.head_size; }

}  // namespace warpmeter
