// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/layer_stack.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "kernels/llm/attention.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/kv_append.h"
#include "kernels/llm/point_shapes.h"
#include "kernels/llm/residual.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/rope.h"
#include "kernels/llm/swiglu.h"

namespace warpmeter {
namespace {

void refuse(const ModelConfig& model, const char* what) {
  throw InputError(
      fmt::format("--step with {}: the stack of layers has no {}; llama-3-8b, llama-3-70b or a "
                  "config of LlamaForCausalLM work",
                  model.name, what));
}

void add(Work& sum, const Work& part, std::int64_t count = 1) {
  for (const auto& [type, ops] : part.ops) sum.ops[type] += double(count) * ops;
  sum.bytes_read += double(count) * part.bytes_read;
  sum.bytes_written += double(count) * part.bytes_written;
  sum.launches += double(count) * part.launches;
}

Work product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return gemm_work({m, n, k, stack_type});
}

// Elements of all weights.
double weights(const StackShape& s) {
  const double layer = double(qkv_columns(s) + s.heads * s.head_size + 3 * s.intermediate + 2);
  return double(s.hidden) * (double(s.layers) * layer + 2 * double(s.vocabulary) + 1);
}

// Elements of one token's row in every tensor between kernels: three of the residual, its norm, q,
// k and v, attention's result, gate and up, their product.
double token_elements(const StackShape& s) {
  return double(4 * s.hidden + qkv_columns(s) + s.heads * s.head_size + 3 * s.intermediate);
}

}  // namespace

AttentionShape prefill_attention(const StackShape& s) {
  return {s.batch, s.heads, s.kv_heads, s.head_size, s.context, stack_type};
}

DecodeShape decode_attention(const StackShape& s) {
  DecodeShape shape;
  static_cast<AttentionShape&>(shape) = prefill_attention(s);
  shape.page = s.page;
  shape.cache = stack_type;
  return shape;
}

StackShape stack_shape(const ModelConfig& model, std::int64_t layers, Phase phase,
                       std::int64_t batch, std::int64_t context) {
  if (phase == Phase::train)
    throw InputError("--step --phase train: the stack runs prefill and decode only");
  if (layers < 1 || batch < 1 || context < 1)
    throw InputError("--layers, --batch and --context must be at least 1");
  if (model.latent) refuse(model, "latent attention");
  if (model.qk_norm) refuse(model, "norms of queries and keys");
  for (const LayerKind& layer : model.layers) {
    if (layer.experts) refuse(model, "mixture of experts");
    if (layer.sliding) refuse(model, "sliding window");
  }
  StackShape shape;
  shape.layers = std::min(layers, static_cast<std::int64_t>(model.layers.size()));
  shape.hidden = model.hidden;
  shape.intermediate = model.intermediate;
  shape.heads = model.heads;
  shape.kv_heads = model.kv_heads;
  shape.head_size = model.head_size;
  shape.vocabulary = model.vocabulary;
  shape.phase = phase;
  shape.batch = batch;
  shape.context = context;
  return shape;
}

Parameters stack_point(const StackShape& s, const std::string& model) {
  return {{"kernel", "step"},
          {"family", "step"},
          {"model", model},
          {"split", "held_out"},
          {"type", to_string(stack_type)},
          {"phase", to_string(s.phase)},
          {"layers", double(s.layers)},
          {"hidden", double(s.hidden)},
          {"intermediate", double(s.intermediate)},
          {"heads", double(s.heads)},
          {"kv_heads", double(s.kv_heads)},
          {"head_size", double(s.head_size)},
          {"vocabulary", double(s.vocabulary)},
          {"batch", double(s.batch)},
          {"context", double(s.context)},
          {"page", double(s.page)}};
}

StackShape stack_shape(const Parameters& p) {
  StackShape s;
  s.layers = count(p, "layers");
  s.hidden = count(p, "hidden");
  s.intermediate = count(p, "intermediate");
  s.heads = count(p, "heads");
  s.kv_heads = count(p, "kv_heads");
  s.head_size = count(p, "head_size");
  s.vocabulary = count(p, "vocabulary");
  s.phase = parse_phase(word(p, "phase").value_or("none"));
  s.batch = count(p, "batch");
  s.context = count(p, "context");
  s.page = count(p, "page");
  return s;
}

Work stack_work(const StackShape& s) {
  const std::int64_t tokens = step_tokens(s), attention_columns = s.heads * s.head_size;
  const bool decodes = s.phase == Phase::decode;
  const RowsShape row = {tokens, s.hidden, stack_type};
  const Work norm = with_residual(rms_norm_work(row), row);
  Work layer;
  layer.launches = 0;
  add(layer, norm, 2);
  add(layer, product(tokens, qkv_columns(s), s.hidden));
  add(layer, rope_work({tokens, s.heads + s.kv_heads, s.head_size, stack_type, qkv_columns(s)}));
  add(layer, kv_append_work({tokens, s.batch, s.heads, s.kv_heads, s.head_size, s.page, stack_type,
                             stack_type}));
  Work attention =
      decodes ? attention_work(decode_attention(s)) : causal_attention_work(prefill_attention(s));
  attention.launches = decodes ? 2 : 1;
  add(layer, attention);
  add(layer, product(tokens, s.hidden, attention_columns));
  add(layer, product(tokens, 2 * s.intermediate, s.hidden));
  add(layer, swiglu_work({tokens, s.intermediate, stack_type}));
  add(layer, product(tokens, s.hidden, s.intermediate));
  Work work;
  work.launches = 0;
  add(work, gather_work({tokens, s.hidden, s.vocabulary, stack_type}));
  add(work, layer, s.layers);
  // The first norm has no residual yet, the last one is the output's.
  work.bytes_read -= norm.bytes_read - rms_norm_work(row).bytes_read;
  work.bytes_written -= norm.bytes_written - rms_norm_work(row).bytes_written;
  work.ops["f32"] -= norm.ops.at("f32") - rms_norm_work(row).ops.at("f32");
  add(work, norm);
  if (!decodes) add(work, gather_work({s.batch, s.hidden, tokens, stack_type}));
  add(work, product(s.batch, s.vocabulary, s.hidden));
  const double cache = 2 * double(s.layers * s.batch * pages_per_sequence(decode_attention(s)) *
                                  s.page * s.kv_heads * s.head_size);
  work.working_set =
      double(bytes_of(stack_type)) *
      (weights(s) + cache + double(tokens) * token_elements(s) + double(s.batch * s.vocabulary));
  return work;
}

}  // namespace warpmeter
