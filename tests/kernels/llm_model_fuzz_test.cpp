// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The reader of models and the lists of kernels against damaged configs: every mutation is listed,
// with shapes that a kernel may have, or refused with an InputError, and nothing else.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/error.h"
#include "kernels/llm/step.h"

namespace warpmeter {
namespace {

// All fields that the reader knows, so that each can be damaged.
Json seed_config() {
  return Json{{"model_type", "qwen3_moe"},
              {"hidden_act", "silu"},
              {"is_encoder_decoder", false},
              {"hidden_size", 64},
              {"vocab_size", 128},
              {"num_hidden_layers", 4},
              {"num_attention_heads", 4},
              {"num_key_value_heads", 2},
              {"head_dim", 16},
              {"intermediate_size", 96},
              {"n_routed_experts", 8},
              {"n_shared_experts", 1},
              {"num_experts_per_tok", 2},
              {"moe_intermediate_size", 32},
              {"first_k_dense_replace", 1},
              {"moe_layer_freq", Json::array({1, 1, 1, 1})},
              {"decoder_sparse_step", 1},
              {"mlp_only_layers", Json::array({3})},
              {"sliding_window", 32},
              {"use_sliding_window", true},
              {"layer_types", Json::array({"full_attention", "sliding_attention", "full_attention",
                                           "sliding_attention"})},
              {"tie_word_embeddings", true}};
}

Json latent_config() {
  Json config = seed_config();
  config.update(Json{{"kv_lora_rank", 32},
                     {"q_lora_rank", 48},
                     {"qk_nope_head_dim", 16},
                     {"qk_rope_head_dim", 8},
                     {"v_head_dim", 16}});
  return config;
}

const Json& odd_value(std::mt19937& random) {
  static const std::vector<Json> values = {Json(),
                                           true,
                                           -1,
                                           0,
                                           1,
                                           3,
                                           2147483647,
                                           2147483648,
                                           18446744073709551615u,
                                           -9223372036854775807,
                                           1e308,
                                           2.5,
                                           "",
                                           "\xff\n",
                                           std::string(300, 'a'),
                                           Json::array(),
                                           Json::object(),
                                           Json{{"a", 1}},
                                           Json{1, 2}};
  return values[random() % values.size()];
}

void damage(Json& config, std::mt19937& random) {
  auto field = config.begin();
  std::advance(field, static_cast<std::ptrdiff_t>(random() % config.size()));
  if (random() % 4 == 0) {
    config.erase(field);
  } else if (field->is_array() && !field->empty() && random() % 2 == 0) {
    (*field)[random() % field->size()] = odd_value(random);
  } else {
    *field = odd_value(random);
  }
}

StepOptions random_options(std::mt19937& random) {
  constexpr std::int64_t sizes[] = {1, 1, 2, 4, 3, 0, 2147483647};
  StepOptions options;
  options.phase = static_cast<Phase>(random() % 3);
  options.batch = sizes[random() % std::size(sizes)];
  options.context = sizes[random() % std::size(sizes)];
  options.tensor_parallel = sizes[random() % 5];
  options.expert_parallel = sizes[random() % 5];
  options.type = random() % 2 == 0 ? Element::bf16 : Element::e4m3;
  return options;
}

// Every number of a shape is a positive whole number, but Adam's, which may pass 2^53.
void expect_shapes(const std::vector<StepKernel>& kernels) {
  for (const StepKernel& kernel : kernels) {
    ASSERT_GE(kernel.count, 1) << kernel.layer;
    for (const auto& [name, value] : kernel.shape) {
      const double* size = std::get_if<double>(&value);
      if (size == nullptr) continue;
      ASSERT_GE(*size, 1) << kernel.layer << " " << name;
      ASSERT_EQ(*size, std::floor(*size)) << kernel.layer << " " << name;
    }
  }
}

void survive(const Json& whole, std::uint32_t seed) {
  std::mt19937 random(seed);
  constexpr int tries = 10000;
  int refused = 0;
  for (int i = 0; i < tries; ++i) {
    Json config = whole;
    for (auto edits = random() % 3; edits > 0; --edits) damage(config, random);
    try {
      const ModelConfig model = model_from_json(config, "fuzz");
      expect_shapes(step_kernels(model, random_options(random)));
    } catch (const InputError& error) {
      ++refused;
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, tries / 4);
  EXPECT_LT(refused, tries - tries / 20);
}

TEST(FuzzModelReader, SurvivesStructuralDamage) { survive(seed_config(), 11); }

TEST(FuzzModelReader, SurvivesStructuralDamageOfLatentAttention) { survive(latent_config(), 12); }

TEST(FuzzModelReader, SurvivesDamagedBytes) {
  const std::string text = latent_config().dump();
  std::mt19937 random(13);
  for (int i = 0; i < 10000; ++i) {
    std::string damaged = text;
    for (auto edits = 1 + random() % 4; edits > 0; --edits)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    const Json config = Json::parse(damaged, nullptr, false);
    if (config.is_discarded()) continue;
    try {
      model_from_json(config, "fuzz");
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace warpmeter
