// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>

#include "kernels/llm/step_list.h"

namespace warpmeter {
namespace {

// How many positions a layer of decoding reads.
std::int64_t seen(const StepList& list, const LayerKind& kind) {
  const std::int64_t context = list.options.context;
  return kind.sliding ? std::min(context, list.model.sliding_window) : context;
}

void add_rope(StepList& list, std::int64_t heads, std::int64_t size, std::int64_t count) {
  list.add(
      "kernel.rope", "rope",
      {{"rows", double(list.share.tokens)}, {"heads", double(heads)}, {"head_size", double(size)}},
      count);
}

// Pages of 16 positions, as engines have them.
Parameters paged(const StepList& list, std::int64_t heads, std::int64_t kv_heads,
                 std::int64_t size) {
  return {{"rows", double(list.share.tokens)},
          {"batch", double(list.options.batch)},
          {"heads", double(heads)},
          {"kv_heads", double(kv_heads)},
          {"head_size", double(size)},
          {"page_size", 16.0},
          {"cache", to_string(list.activations())}};
}

// Attention of all tokens, in prefill and training.
void add_causal(StepList& list, const LayerKind& kind, Parameters shape, std::string missing,
                std::int64_t count) {
  shape["batch"] = double(list.options.batch);
  shape["context"] = double(list.options.context);
  const std::int64_t window = list.model.sliding_window;
  if (kind.sliding && window < list.options.context) {
    shape["window"] = double(window);
    missing =
        fmt::format("a sliding window of {}; kernel.attention.prefill sees all positions", window);
  }
  list.add("kernel.attention.prefill", "attention", std::move(shape), count, missing);
}

void add_grouped_query(StepList& list, const LayerKind& kind, std::int64_t count) {
  const ModelConfig& model = list.model;
  const std::int64_t tokens = list.share.tokens, heads = list.share.heads;
  const std::int64_t kv_heads = list.share.kv_heads, size = model.head_size;
  list.linear("qkv", tokens, (heads + 2 * kv_heads) * size, model.hidden, count, list.options.type);
  if (model.qk_norm) {
    list.norm("kernel.rms_norm", "q_norm", tokens * heads, size, count);
    list.norm("kernel.rms_norm", "k_norm", tokens * kv_heads, size, count);
  }
  add_rope(list, heads + kv_heads, size, count);
  if (list.keeps_cache())
    list.add("kernel.kv_append", "kv_append", paged(list, heads, kv_heads, size), count);
  Parameters shape = {
      {"heads", double(heads)}, {"kv_heads", double(kv_heads)}, {"head_size", double(size)}};
  if (list.options.phase != Phase::decode) {
    add_causal(list, kind, shape, "", count);
  } else {
    shape["batch"] = double(list.options.batch);
    shape["context"] = double(seen(list, kind));
    list.add("kernel.attention.decode", "attention", shape, count);
  }
  list.linear("attention_output", tokens, model.hidden, heads * size, count, list.options.type);
}

// Decoding multiplies queries and results by the up-projection of keys and values instead of
// expanding the cache (DeepSeek-V2, arXiv:2405.04434, section 2.1.2): per head one product each,
// here as the groups of a grouped GEMM, and attention over the latent vectors themselves.
void add_absorbed(StepList& list, const LayerKind& kind, std::int64_t count) {
  const LatentAttention& latent = *list.model.latent;
  const std::int64_t heads = list.share.heads, rows = list.share.tokens * heads;
  const Element type = list.activations();
  list.grouped("q_absorb", heads, rows, latent.kv_rank, latent.plain_size, count, type, 1);
  list.add("kernel.attention.mla", "attention",
           {{"batch", double(list.options.batch)},
            {"context", double(seen(list, kind))},
            {"heads", double(heads)},
            {"kv_rank", double(latent.kv_rank)},
            {"rope_size", double(latent.rope_size)}},
           count);
  list.grouped("v_absorb", heads, rows, latent.value_size, latent.kv_rank, count, type, 1);
}

// Prefill and training expand keys and values of all heads.
void add_expanded(StepList& list, const LayerKind& kind, std::int64_t count) {
  const LatentAttention& latent = *list.model.latent;
  const std::int64_t heads = list.share.heads, key_size = latent.plain_size + latent.rope_size;
  list.linear("kv_up", list.share.tokens, heads * (latent.plain_size + latent.value_size),
              latent.kv_rank, count, list.options.type);
  add_causal(list, kind,
             {{"heads", double(heads)},
              {"kv_heads", double(heads)},
              {"head_size", double(key_size)},
              {"value_size", double(latent.value_size)}},
             key_size == latent.value_size
                 ? ""
                 : fmt::format("keys of {} and values of {} per head; kernel.attention.prefill has "
                               "one size for both",
                               key_size, latent.value_size),
             count);
}

// The down-projections of queries and of keys and values are one product, as engines fuse them;
// each rank has them whole.
void add_latent(StepList& list, const LayerKind& kind, std::int64_t count) {
  const ModelConfig& model = list.model;
  const LatentAttention& latent = *model.latent;
  const std::int64_t tokens = list.share.tokens, heads = list.share.heads;
  const std::int64_t cached = latent.kv_rank + latent.rope_size;
  const std::int64_t queries = heads * (latent.plain_size + latent.rope_size);
  const Element type = list.options.type;
  list.linear("qkv_down", tokens, latent.query_rank + cached, model.hidden, count, type);
  list.norm("kernel.rms_norm", "kv_norm", tokens, latent.kv_rank, count);
  if (latent.query_rank > 0) {
    list.norm("kernel.rms_norm", "q_norm", tokens, latent.query_rank, count);
    list.linear("q_up", tokens, queries, latent.query_rank, count, type);
  } else {
    list.linear("q", tokens, queries, model.hidden, count, type);
  }
  add_rope(list, heads + 1, latent.rope_size, count);
  if (list.keeps_cache())
    list.add("kernel.kv_append", "kv_append", paged(list, heads, 1, cached), count,
             fmt::format("one latent vector of {} per token; kernel.kv_append writes keys and "
                         "values of heads",
                         cached));
  if (list.options.phase == Phase::decode) {
    add_absorbed(list, kind, count);
  } else {
    add_expanded(list, kind, count);
  }
  list.linear("attention_output", tokens, model.hidden, heads * latent.value_size, count, type);
}

}  // namespace

void add_attention(StepList& list, const LayerKind& kind, std::int64_t count) {
  list.model.latent ? add_latent(list, kind, count) : add_grouped_query(list, kind, count);
  list.all_reduce("attention_output.sum", list.model.hidden, count);
}

}  // namespace warpmeter
