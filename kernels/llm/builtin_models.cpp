// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "core/error.h"
#include "kernels/llm/model_config.h"

namespace warpmeter {
namespace {

struct BuiltinModel {
  const char* name;
  const char* config;
};

// The fields of each config.json that decide shapes, with the values published on Hugging Face.
constexpr std::array builtin = {
    // meta-llama/Meta-Llama-3-8B
    BuiltinModel{"llama-3-8b", R"({"model_type": "llama", "hidden_size": 4096,
      "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": false})"},
    // meta-llama/Meta-Llama-3-70B
    BuiltinModel{"llama-3-70b", R"({"model_type": "llama", "hidden_size": 8192,
      "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
      "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": false})"},
    // Qwen/Qwen3-30B-A3B
    BuiltinModel{"qwen3-moe", R"({"model_type": "qwen3_moe", "hidden_size": 2048,
      "intermediate_size": 6144, "moe_intermediate_size": 768, "num_hidden_layers": 48,
      "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "num_experts": 128,
      "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
      "sliding_window": null, "use_sliding_window": false, "vocab_size": 151936,
      "tie_word_embeddings": false})"},
    // deepseek-ai/DeepSeek-V3; without its module for predicting a second token
    BuiltinModel{"deepseek-v3", R"({"model_type": "deepseek_v3", "hidden_size": 7168,
      "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_hidden_layers": 61,
      "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536,
      "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
      "first_k_dense_replace": 3, "moe_layer_freq": 1, "vocab_size": 129280,
      "tie_word_embeddings": false})"},
    // openai/gpt-oss-120b; layer_types (filled in below) alternates, sliding_attention first
    BuiltinModel{"gpt-oss-120b", R"({"model_type": "gpt_oss", "hidden_size": 2880,
      "intermediate_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64,
      "num_key_value_heads": 8, "head_dim": 64, "num_local_experts": 128,
      "experts_per_token": 4, "sliding_window": 128, "layer_types": [], "vocab_size": 201088,
      "tie_word_embeddings": false})"},
};

ModelConfig read_builtin(const BuiltinModel& entry) {
  Json config = Json::parse(entry.config);
  if (config.contains("layer_types")) {
    Json& types = config["layer_types"];
    for (int i = 0; i < config["num_hidden_layers"].get<int>(); ++i)
      types.push_back(i % 2 == 0 ? "sliding_attention" : "full_attention");
  }
  ModelConfig model = model_from_json(config, entry.name);
  model.name = entry.name;
  return model;
}

// A name that can stand in an id of a point.
std::string tame(const std::string& text) {
  std::string name = text.substr(0, 64);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  return name.empty() ? "model" : name;
}

// .../Meta-Llama-3-8B/config.json: the folder; .../small.json: the file.
std::string name_of(const std::filesystem::path& file) {
  const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
  return tame(file.filename() == "config.json" ? folder : file.stem().string());
}

}  // namespace

std::vector<std::string> builtin_models() {
  std::vector<std::string> names;
  for (const BuiltinModel& entry : builtin) names.emplace_back(entry.name);
  return names;
}

ModelConfig load_model(const std::string& name_or_file) {
  for (const BuiltinModel& entry : builtin)
    if (name_or_file == entry.name) return read_builtin(entry);
  std::filesystem::path file = name_or_file;
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw InputError(fmt::format("unknown model \"{}\": {}, or a Hugging Face config.json",
                                 name_or_file, fmt::join(builtin_models(), ", ")));
  if (std::filesystem::is_directory(file, error)) file /= "config.json";
  if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error))
    throw InputError(fmt::format("cannot read {}: it is no regular file", file.string()));
  constexpr std::size_t most_bytes = 1 << 20;  // real ones have a few KiB
  ModelConfig model = model_from_json(read_json(file, most_bytes), file.string());
  model.name = name_of(file);
  return model;
}

}  // namespace warpmeter
