// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"

namespace warpmeter {
namespace {

constexpr std::int64_t largest_size = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t most_layers = 4096;

// One field of a config. Absent and null are the same, as in transformers.
class Fields {
 public:
  Fields(const Json& object, std::string_view where) : object_(object), where_(where) {
    if (!object.is_object()) fail("an object was expected");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: {}", where_, what));
  }

  const Json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  bool has(const char* key) const { return find(key) != nullptr; }

  // A whole number from `least` to `most`.
  std::int64_t whole(const char* key, const Json& value, std::int64_t least,
                     std::int64_t most = largest_size) const {
    if (!value.is_number_integer())
      fail(fmt::format("\"{}\" must be a whole number, not {}", key, shown(value)));
    const bool huge = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > static_cast<std::uint64_t>(largest_size);
    if (huge || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
      fail(fmt::format("\"{}\" is {}; from {} to {} is possible", key, shown(value), least, most));
    return value.get<std::int64_t>();
  }

  std::int64_t size(const char* key, std::int64_t least = 1) const {
    const Json* value = find(key);
    if (value == nullptr)
      fail(
          fmt::format("the field \"{}\" is missing; a Hugging Face config.json of a decoder "
                      "(LlamaForCausalLM and its kin) has it",
                      key));
    return whole(key, *value, least);
  }

  std::int64_t size_or(const char* key, std::int64_t otherwise, std::int64_t least = 1) const {
    return has(key) ? size(key, least) : otherwise;
  }

  // The first of several names that the field goes by; null if there is none.
  const char* first_of(std::initializer_list<const char*> keys) const {
    for (const char* key : keys)
      if (has(key)) return key;
    return nullptr;
  }

  bool flag(const char* key, bool otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) fail(fmt::format("\"{}\" must be true or false", key));
    return value->get<bool>();
  }

  std::string text(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return "";
    if (!value->is_string()) fail(fmt::format("\"{}\" must be a string", key));
    return value->get<std::string>();
  }

  // Null if absent. Throws unless it is a list with one entry per layer.
  const Json* per_layer(const char* key, std::size_t layers) const {
    const Json* list = find(key);
    if (list == nullptr) return nullptr;
    if (!list->is_array()) fail(fmt::format("\"{}\" must be a list", key));
    if (list->size() != layers)
      fail(fmt::format("\"{}\" has {} entries for {} layers", key, list->size(), layers));
    return list;
  }

  static std::string shown(const Json& value) {
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() <= 40 ? text : text.substr(0, 40) + "...";
  }

 private:
  const Json& object_;
  std::string where_;
};

// What no kernel list of the Llama form can stand for.
void require_form(const Fields& fields) {
  if (fields.has("text_config"))
    fields.fail("a model of several kinds of input; give its \"text_config\" as a file of its own");
  if (fields.flag("is_encoder_decoder", false))
    fields.fail("an encoder with a decoder; decoders alone (LlamaForCausalLM) can be listed");
  for (const char* key : {"ssm_cfg", "mamba_d_state", "linear_num_key_heads", "full_attn_idxs"})
    if (fields.has(key))
      fields.fail(
          fmt::format("\"{}\": layers without attention; models with attention in each "
                      "layer can be listed",
                      key));
  const std::string activation = fields.text("hidden_act");
  if (!activation.empty() && activation != "silu" && activation != "swiglu")
    fields.fail(
        fmt::format("\"hidden_act\" is {}; only gated feed-forward blocks with silu can be "
                    "listed",
                    Fields::shown(activation)));
}

void read_attention(const Fields& fields, ModelConfig& model) {
  model.heads = fields.size("num_attention_heads");
  if (fields.has("kv_lora_rank")) {
    model.latent = {fields.size_or("q_lora_rank", 0), fields.size("kv_lora_rank"),
                    fields.size("qk_nope_head_dim"), fields.size("qk_rope_head_dim"),
                    fields.size("v_head_dim")};
    return;
  }
  model.kv_heads = fields.size_or("num_key_value_heads", model.heads);
  if (model.heads % model.kv_heads != 0)
    fields.fail(
        fmt::format("\"num_attention_heads\" ({}) is no multiple of "
                    "\"num_key_value_heads\" ({})",
                    model.heads, model.kv_heads));
  if (!fields.has("head_dim") && model.hidden % model.heads != 0)
    fields.fail(
        fmt::format("\"hidden_size\" ({}) is no multiple of \"num_attention_heads\" ({}), "
                    "and there is no \"head_dim\"",
                    model.hidden, model.heads));
  model.head_size = fields.size_or("head_dim", model.hidden / model.heads);
  if (model.head_size % 2 != 0)
    fields.fail(fmt::format("heads of size {}: rotary embedding turns pairs, so it must be even",
                            model.head_size));
  // transformers' Qwen3 classes have these norms always; no field says so.
  model.qk_norm = fields.text("model_type").rfind("qwen3", 0) == 0;
}

void read_windows(const Fields& fields, ModelConfig& model) {
  const Json* types = fields.per_layer("layer_types", model.layers.size());
  const bool switched_off = !fields.flag("use_sliding_window", true);
  const std::int64_t window = switched_off ? 0 : fields.size_or("sliding_window", 0);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (types == nullptr) {
      model.layers[i].sliding = window > 0;
      continue;
    }
    const Json& type = (*types)[i];
    if (type == "sliding_attention") {
      if (window == 0)
        fields.fail("\"layer_types\" has sliding_attention, but \"sliding_window\" is missing");
      model.layers[i].sliding = true;
    } else if (type != "full_attention") {
      fields.fail(
          fmt::format("\"layer_types\" has {}; full_attention and sliding_attention can be "
                      "listed",
                      Fields::shown(type)));
    }
  }
  const auto slides = [](const LayerKind& kind) { return kind.sliding; };
  if (std::any_of(model.layers.begin(), model.layers.end(), slides)) model.sliding_window = window;
}

// Which layers have experts: transformers' DeepseekV3 and Qwen3Moe each have a rule of their own.
void read_expert_layers(const Fields& fields, ModelConfig& model) {
  const auto count = static_cast<std::int64_t>(model.layers.size());
  const std::int64_t first = fields.size_or("first_k_dense_replace", 0, 0);
  const std::int64_t step = fields.size_or("decoder_sparse_step", 1);
  const Json* frequency = fields.find("moe_layer_freq");
  const bool listed = frequency != nullptr && frequency->is_array();
  const Json* list = listed ? fields.per_layer("moe_layer_freq", model.layers.size()) : nullptr;
  const std::int64_t every = listed ? 1 : fields.size_or("moe_layer_freq", 1);
  for (std::int64_t i = 0; i < count; ++i) {
    bool& experts = model.layers[static_cast<std::size_t>(i)].experts;
    experts = i >= first && i % every == 0 && (i + 1) % step == 0;
    if (list != nullptr)
      experts = fields.whole("moe_layer_freq", (*list)[static_cast<std::size_t>(i)], 0, 1) == 1;
  }
  const Json* dense = fields.find("mlp_only_layers");
  if (dense == nullptr) return;
  if (!dense->is_array()) fields.fail("\"mlp_only_layers\" must be a list");
  for (const Json& index : *dense) {
    const std::int64_t layer = fields.whole("mlp_only_layers", index, 0, count - 1);
    model.layers[static_cast<std::size_t>(layer)].experts = false;
  }
}

void read_feed_forward(const Fields& fields, ModelConfig& model) {
  const char* experts = fields.first_of({"n_routed_experts", "num_local_experts", "num_experts"});
  if (experts != nullptr) {
    model.experts = fields.size(experts);
    const char* chosen = fields.first_of({"num_experts_per_tok", "experts_per_token"});
    model.experts_per_token = fields.size(chosen ? chosen : "num_experts_per_tok");
    if (model.experts_per_token > model.experts)
      fields.fail(fmt::format("\"{}\" ({}) is more than \"{}\" ({})", chosen,
                              model.experts_per_token, experts, model.experts));
    const char* size = fields.first_of({"moe_intermediate_size", "intermediate_size"});
    model.expert_intermediate = fields.size(size ? size : "moe_intermediate_size");
    model.shared_intermediate =
        fields.has("shared_expert_intermediate_size")
            ? fields.size("shared_expert_intermediate_size", 0)
            : fields.size_or("n_shared_experts", 0, 0) * model.expert_intermediate;
    if (model.shared_intermediate > largest_size)
      fields.fail(fmt::format("\"n_shared_experts\": together they have {} columns",
                              model.shared_intermediate));
    read_expert_layers(fields, model);
  }
  const auto is_dense = [](const LayerKind& kind) { return !kind.experts; };
  if (std::any_of(model.layers.begin(), model.layers.end(), is_dense))
    model.intermediate = fields.size("intermediate_size");
}

}  // namespace

ModelConfig model_from_json(const Json& config, std::string_view where) {
  const Fields fields(config, where);
  require_form(fields);
  ModelConfig model;
  model.hidden = fields.size("hidden_size");
  model.vocabulary = fields.size("vocab_size");
  const std::int64_t layers = fields.size("num_hidden_layers");
  if (layers > most_layers)
    fields.fail(fmt::format("\"num_hidden_layers\" is {}; at most {}", layers, most_layers));
  model.layers.resize(static_cast<std::size_t>(layers));
  read_attention(fields, model);
  read_windows(fields, model);
  read_feed_forward(fields, model);
  model.tied_embeddings = fields.flag("tie_word_embeddings", false);
  return model;
}

double attention_weights(const ModelConfig& m) {
  const double hidden = double(m.hidden), heads = double(m.heads);
  if (!m.latent)
    return hidden * double(m.head_size) * (2 * heads + 2 * double(m.kv_heads));  // q, o, k, v
  const LatentAttention& a = *m.latent;
  const double rank = double(a.query_rank), query = heads * double(a.plain_size + a.rope_size);
  const double queries = rank > 0 ? hidden * rank + rank * query : hidden * query;
  const double down = hidden * double(a.kv_rank + a.rope_size);
  const double up = double(a.kv_rank) * heads * double(a.plain_size + a.value_size);
  return queries + down + up + heads * double(a.value_size) * hidden;
}

double dense_weights(const ModelConfig& m) { return 3 * double(m.hidden) * double(m.intermediate); }

double expert_weights(const ModelConfig& m) {
  return 3 * double(m.hidden) * double(m.expert_intermediate);
}

double layer_weights(const ModelConfig& m, const LayerKind& kind, bool active) {
  if (!kind.experts) return attention_weights(m) + dense_weights(m);
  const double hidden = double(m.hidden);
  const double used = double(active ? m.experts_per_token : m.experts);
  return attention_weights(m) + hidden * double(m.experts) +  // the router
         3 * hidden * double(m.shared_intermediate) + used * expert_weights(m);
}

double parameter_count(const ModelConfig& m) {
  const double hidden = double(m.hidden);
  double norms = 2 * hidden;
  if (m.qk_norm) norms += 2 * double(m.head_size);
  if (m.latent) norms += double(m.latent->query_rank + m.latent->kv_rank);
  double sum = hidden + (m.tied_embeddings ? 1 : 2) * hidden * double(m.vocabulary);
  for (const LayerKind& kind : m.layers) sum += norms + layer_weights(m, kind, false);
  return sum;
}

}  // namespace warpmeter
