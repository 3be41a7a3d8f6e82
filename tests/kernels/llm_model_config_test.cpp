// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/error.h"
#include "kernels/llm/model_config.h"
#include "kernels/llm/models.h"

namespace warpmeter {
namespace {

Json llama() {
  return Json{{"architectures", Json::array({"LlamaForCausalLM"})},
              {"hidden_act", "silu"},
              {"hidden_size", 64},
              {"intermediate_size", 96},
              {"model_type", "llama"},
              {"num_attention_heads", 4},
              {"num_hidden_layers", 4},
              {"num_key_value_heads", 2},
              {"vocab_size", 128}};
}

Json mixture() {
  Json config = llama();
  config.update(
      Json{{"num_experts", 8}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 32}});
  return config;
}

ModelConfig read(const Json& config) { return model_from_json(config, "test"); }

// The text of the refusal, which is one line and names the document.
std::string refusal(const Json& config) {
  try {
    read(config);
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("test: ", 0), 0u) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << "was read: " << config.dump();
  return "";
}

std::string refusal_of(const char* field, const Json& value, Json config = llama()) {
  config[field] = value;
  return refusal(config);
}

std::int64_t count_experts(const ModelConfig& model) {
  return std::count_if(model.layers.begin(), model.layers.end(),
                       [](const LayerKind& kind) { return kind.experts; });
}

// The totals that the models' publishers state.
TEST(BuiltinModels, HaveThePublishedNumberOfParameters) {
  const std::pair<const char*, double> published[] = {{"llama-3-8b", 8.03e9},
                                                      {"llama-3-70b", 70.6e9},
                                                      {"qwen3-moe", 30.5e9},
                                                      {"deepseek-v3", 671e9},
                                                      {"gpt-oss-120b", 116.8e9}};
  EXPECT_EQ(builtin_models().size(), std::size(published));
  for (const auto& [name, parameters] : published)
    EXPECT_NEAR(parameter_count(load_model(name)) / parameters, 1, 0.01) << name;
  EXPECT_EQ(parameter_count(load_model("llama-3-8b")), 8030261248.0);  // no biases: exactly
}

// DeepSeek-V3, arXiv:2412.19437: 37 billion active per token, with the output projection and
// without the embedding; gpt-oss-120b's model card: 5.13 billion, with the embedding's unused rows
// left out; Qwen3-30B-A3B: 3.3 billion with the embedding.
TEST(BuiltinModels, HaveThePublishedNumberOfActiveParameters) {
  const auto active = [](const char* name, int vocabularies) {
    const ModelConfig model = load_model(name);
    double sum = double(vocabularies) * double(model.hidden) * double(model.vocabulary);
    for (const LayerKind& kind : model.layers) sum += layer_weights(model, kind, true);
    return sum;
  };
  EXPECT_NEAR(active("deepseek-v3", 1) / 37e9, 1, 0.015);
  EXPECT_NEAR(active("gpt-oss-120b", 1) / 5.13e9, 1, 0.015);
  EXPECT_NEAR(active("qwen3-moe", 2) / 3.3e9, 1, 0.02);
}

TEST(BuiltinModels, AgreeWithTheTablesOfPoints) {
  const std::pair<const char*, const LlmModel&> same[] = {{"llama-3-8b", llama3_8b},
                                                          {"qwen3-moe", qwen3_30b_a3b}};
  for (const auto& [name, point] : same) {
    const ModelConfig model = load_model(name);
    EXPECT_EQ(model.hidden, point.hidden);
    EXPECT_EQ(model.experts > 0 ? model.expert_intermediate : model.intermediate,
              point.intermediate);
    EXPECT_EQ(model.heads, point.heads);
    EXPECT_EQ(model.kv_heads, point.kv_heads);
    EXPECT_EQ(model.head_size, point.head_size);
    EXPECT_EQ(model.experts, point.experts);
    EXPECT_EQ(model.vocabulary, point.vocabulary);
  }
}

TEST(BuiltinModels, HaveTheirLayers) {
  const ModelConfig deepseek = load_model("deepseek-v3");
  EXPECT_EQ(count_experts(deepseek), 58);
  EXPECT_FALSE(deepseek.layers[2].experts);
  EXPECT_TRUE(deepseek.layers[3].experts);
  EXPECT_EQ(deepseek.shared_intermediate, 2048);
  const ModelConfig gpt = load_model("gpt-oss-120b");
  EXPECT_EQ(gpt.layers[0], (LayerKind{true, true}));
  EXPECT_EQ(gpt.layers[1], (LayerKind{true, false}));
  EXPECT_EQ(gpt.sliding_window, 128);
  EXPECT_TRUE(load_model("qwen3-moe").qk_norm);
}

TEST(ModelConfig, FillsInWhatTransformersFillsIn) {
  Json config = llama();
  config.erase("num_key_value_heads");
  config["head_dim"] = nullptr;
  const ModelConfig model = read(config);
  EXPECT_EQ(model.kv_heads, 4);
  EXPECT_EQ(model.head_size, 16);
  EXPECT_EQ(model.experts, 0);
  EXPECT_EQ(model.intermediate, 96);
  EXPECT_FALSE(model.tied_embeddings);
}

TEST(ModelConfig, FollowsTheRulesForLayersOfExperts) {
  const auto layers = [](const char* field, const Json& value) {
    Json config = mixture();
    config[field] = value;
    std::string text;
    for (const LayerKind& kind : read(config).layers) text += kind.experts ? 'e' : 'd';
    return text;
  };
  EXPECT_EQ(layers("mlp_only_layers", Json::array()), "eeee");
  EXPECT_EQ(layers("mlp_only_layers", Json::array({0, 2})), "dede");
  EXPECT_EQ(layers("decoder_sparse_step", 2), "dede");
  EXPECT_EQ(layers("moe_layer_freq", 2), "eded");
  EXPECT_EQ(layers("moe_layer_freq", Json::array({0, 1, 1, 0})), "deed");
  EXPECT_EQ(layers("first_k_dense_replace", 3), "ddde");
  EXPECT_EQ(layers("first_k_dense_replace", 4), "dddd");
}

TEST(ModelConfig, NeedsNoDenseSizeWhereAllLayersHaveExperts) {
  Json config = mixture();
  config.erase("intermediate_size");
  EXPECT_EQ(read(config).intermediate, 0);
  config["first_k_dense_replace"] = 1;
  EXPECT_NE(refusal(config).find("\"intermediate_size\" is missing"), std::string::npos);
}

TEST(ModelConfig, FollowsTheRulesForWindows) {
  Json config = llama();
  config["sliding_window"] = 32;
  EXPECT_TRUE(read(config).layers[3].sliding);
  config["use_sliding_window"] = false;
  EXPECT_EQ(read(config).sliding_window, 0);
  config.erase("use_sliding_window");
  config["layer_types"] =
      Json{"full_attention", "sliding_attention", "full_attention", "full_attention"};
  EXPECT_EQ(read(config).layers[1], (LayerKind{false, true}));
  EXPECT_FALSE(read(config).layers[0].sliding);
  config["sliding_window"] = nullptr;
  EXPECT_NE(refusal(config).find("\"sliding_window\" is missing"), std::string::npos);
}

TEST(ModelConfig, NamesAMissingField) {
  for (const char* field : {"hidden_size", "intermediate_size", "num_attention_heads",
                            "num_hidden_layers", "vocab_size"}) {
    Json config = llama();
    config.erase(field);
    EXPECT_NE(refusal(config).find(std::string("\"") + field + "\" is missing"), std::string::npos);
  }
  for (const char* field : {"num_experts_per_tok"}) {
    Json config = mixture();
    config.erase(field);
    EXPECT_NE(refusal(config).find(std::string("\"") + field + "\" is missing"), std::string::npos);
  }
  Json latent = llama();
  latent["kv_lora_rank"] = 16;
  EXPECT_NE(refusal(latent).find("\"qk_nope_head_dim\" is missing"), std::string::npos);
}

TEST(ModelConfig, RefusesAbsurdValues) {
  for (const char* field : {"hidden_size", "intermediate_size", "num_attention_heads",
                            "num_hidden_layers", "num_key_value_heads", "vocab_size", "head_dim"}) {
    for (const Json& value : {Json(0), Json(-1), Json(4.5), Json("64"), Json(true), Json::array(),
                              Json(std::int64_t{1} << 31), Json(18446744073709551615u)})
      EXPECT_NE(refusal_of(field, value).find(field), std::string::npos);
  }
  EXPECT_NE(refusal_of("num_key_value_heads", 3).find("no multiple"), std::string::npos);
  EXPECT_NE(refusal_of("num_attention_heads", 6).find("no multiple"), std::string::npos);
  EXPECT_NE(refusal_of("num_experts_per_tok", 9, mixture()).find("more than"), std::string::npos);
  EXPECT_NE(refusal_of("num_hidden_layers", 100000).find("at most"), std::string::npos);
  EXPECT_NE(refusal_of("head_dim", 15).find("even"), std::string::npos);
  EXPECT_NE(refusal_of("layer_types", Json{"full_attention"}).find("1 entries for 4"),
            std::string::npos);
  EXPECT_NE(refusal_of("mlp_only_layers", Json{4}, mixture()).find("mlp_only_layers"),
            std::string::npos);
  EXPECT_NE(refusal_of("moe_layer_freq", 0, mixture()).find("moe_layer_freq"), std::string::npos);
}

TEST(ModelConfig, RefusesOtherForms) {
  EXPECT_NE(refusal(Json::array()).find("object"), std::string::npos);
  EXPECT_NE(refusal_of("text_config", Json::object()).find("text_config"), std::string::npos);
  EXPECT_NE(refusal_of("is_encoder_decoder", true).find("encoder"), std::string::npos);
  EXPECT_NE(refusal_of("hidden_act", "gelu").find("gelu"), std::string::npos);
  EXPECT_NE(refusal_of("layer_types", Json{"linear_attention", "a", "b", "c"}).find("linear"),
            std::string::npos);
}

class ModelFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  static std::string refusal(const std::string& file) {
    try {
      load_model(file);
    } catch (const InputError& error) {
      return error.what();
    }
    ADD_FAILURE() << file;
    return "";
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("Small=1,x" + std::to_string(std::random_device{}()));
};

TEST_F(ModelFile, IsNamedAfterItselfOrItsFolder) {
  const std::string text = llama().dump();
  EXPECT_EQ(load_model(write("two-layers.json", text)).name, "two-layers");
  write("config.json", text);
  EXPECT_EQ(load_model(folder_.string()).name.rfind("Small_1_x", 0), 0u);
}

TEST_F(ModelFile, IsRefusedInOneLine) {
  const std::string text = llama().dump();
  EXPECT_NE(refusal(write("empty.json", "")).find("empty"), std::string::npos);
  EXPECT_NE(refusal(write("cut.json", text.substr(0, 80))).find("cut off"), std::string::npos);
  EXPECT_NE(refusal(write("text.json", "hello")).find("not valid JSON"), std::string::npos);
  EXPECT_NE(refusal(write("huge.json", std::string(2 << 20, ' ') + text)).find("limit"),
            std::string::npos);
  EXPECT_NE(refusal("/dev/zero").find("no regular file"), std::string::npos);
  EXPECT_NE(refusal("llama-4").find("llama-3-8b"), std::string::npos);
  EXPECT_NE(refusal(folder_.string()).find("config.json"), std::string::npos);
}

}  // namespace
}  // namespace warpmeter
