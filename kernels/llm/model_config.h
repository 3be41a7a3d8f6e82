// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace warpmeter {

// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1): keys and values come
// from one vector of kv_rank numbers per token; rope_size more carry the position, shared by heads.
struct LatentAttention {
  std::int64_t query_rank = 0;  // 0: queries come straight from the hidden state
  std::int64_t kv_rank = 0;
  std::int64_t plain_size = 0;  // of a head's query and key without position (qk_nope_head_dim)
  std::int64_t rope_size = 0;
  std::int64_t value_size = 0;
};

// How a layer differs from its neighbours.
struct LayerKind {
  bool experts = false;  // a mixture of experts instead of one feed-forward block
  bool sliding = false;  // attention sees the last sliding_window positions only
  bool operator==(const LayerKind&) const = default;
};

// A decoder of the Llama form: embedding; layers of RMSNorm, attention, RMSNorm and a gated
// feed-forward block, dense or of experts; RMSNorm; output projection. All sizes are counts.
struct ModelConfig {
  std::string name;  // of letters, digits, '.', '_', '-'
  std::int64_t hidden = 0, vocabulary = 0;
  std::int64_t heads = 0, kv_heads = 0, head_size = 0;
  std::optional<LatentAttention> latent;  // then kv_heads and head_size have no meaning
  std::int64_t intermediate = 0;          // of a dense layer; 0 if there is none
  std::int64_t experts = 0, experts_per_token = 0, expert_intermediate = 0;  // 0: none
  std::int64_t shared_intermediate = 0;  // of all shared experts together
  std::int64_t sliding_window = 0;       // 0: no layer slides
  bool qk_norm = false;                  // RMSNorm of each head of queries and keys (Qwen3)
  bool tied_embeddings = false;          // the output projection is the embedding
  std::vector<LayerKind> layers;
};

// Reads a config.json in the Hugging Face form: LlamaForCausalLM, Qwen3MoeForCausalLM,
// DeepseekV3ForCausalLM, GptOssForCausalLM, and by its fields any other of the same form. `where`
// names the document in errors. Throws InputError (one line) for a missing field, a value that no
// model can have, and a model of another form.
ModelConfig model_from_json(const Json& config, std::string_view where);

// A built-in model by name, or a file or a folder that holds a config.json. Throws InputError.
ModelConfig load_model(const std::string& name_or_file);

// "llama-3-8b", ...: the names that load_model knows without a file.
std::vector<std::string> builtin_models();

// --- numbers of weights; biases, GPT-OSS's sinks and routers' corrections are not counted ---

double attention_weights(const ModelConfig& model);  // linear maps of one layer's attention
double dense_weights(const ModelConfig& model);      // of one dense feed-forward block
double expert_weights(const ModelConfig& model);     // of one routed expert
// Linear maps of one layer, those of all experts (`active`: of those that a token uses).
double layer_weights(const ModelConfig& model, const LayerKind& kind, bool active);
// The whole model with embedding, output projection and norms.
double parameter_count(const ModelConfig& model);

}  // namespace warpmeter
