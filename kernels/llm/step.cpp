// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/step.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "kernels/llm/step_list.h"

namespace warpmeter {
namespace {

void add_embedding(StepList& list) {
  const std::int64_t hidden = list.model.hidden;
  list.add("kernel.gather", "embedding",
           {{"rows", double(list.share.tokens)},
            {"columns", double(hidden)},
            {"vocabulary", double(list.share.vocabulary)}},
           1);
  if (!list.model.tied_embeddings) list.hold(double(list.share.vocabulary) * double(hidden));
  list.all_reduce("embedding.sum", hidden, 1);
}

// The layers of one kind. Only the first of all has no residual to add before its first norm.
void add_layers(StepList& list, const LayerKind& kind) {
  const auto& layers = list.model.layers;
  const std::int64_t count = std::count(layers.begin(), layers.end(), kind);
  const std::int64_t first = layers.front() == kind ? 1 : 0;
  const std::int64_t tokens = list.share.tokens, hidden = list.model.hidden;
  list.norm("kernel.rms_norm", "input_norm", tokens, hidden, first);
  list.norm("kernel.rms_norm.residual", "input_norm", tokens, hidden, count - first);
  add_attention(list, kind, count);
  list.norm("kernel.rms_norm.residual", "post_attention_norm", tokens, hidden, count);
  add_feed_forward(list, kind, count);
}

// Inference projects the last token of each sequence only, training all.
void add_head(StepList& list) {
  const bool trains = list.options.phase == Phase::train;
  const std::int64_t rows = trains ? list.share.tokens : list.options.batch;
  list.norm("kernel.rms_norm.residual", "final_norm", list.share.tokens, list.model.hidden, 1);
  list.linear("lm_head", rows, list.share.vocabulary, list.model.hidden, 1, list.activations());
  if (trains) {
    list.rows("kernel.cross_entropy", "loss", rows, list.share.vocabulary, 1);
    list.all_reduce("loss.sum", 2, 1);  // largest logit and sum of exponentials of each row
    return;
  }
  if (list.options.tensor_parallel > 1)
    list.add("kernel.all_gather", "logits",
             {{"rows", double(rows)},
              {"columns", double(list.model.vocabulary)},
              {"ranks", double(list.options.tensor_parallel)}},
             1, "no gathering over ranks here; --tp 1 needs none");
  list.add("kernel.sample", "sample",
           {{"rows", double(rows)}, {"vocabulary", double(list.model.vocabulary)}, {"type", "f32"}},
           1);
}

}  // namespace

std::string to_string(Phase phase) {
  if (phase == Phase::prefill) return "prefill";
  return phase == Phase::decode ? "decode" : "train";
}

Phase parse_phase(std::string_view text) {
  for (const Phase phase : {Phase::prefill, Phase::decode, Phase::train})
    if (text == to_string(phase)) return phase;
  throw InputError(fmt::format("unknown phase \"{}\": prefill, decode or train", text));
}

std::vector<StepKernel> step_kernels(const ModelConfig& model, const StepOptions& options) {
  if (options.phase == Phase::train && options.type == Element::e4m3)
    throw InputError("--phase train with --type e4m3: training is listed in bf16, f16 or f32");
  if (options.type == Element::int8)
    throw InputError("--type int8: steps are listed in bf16, f16, f32 or e4m3");
  StepList list(model, options);
  add_embedding(list);
  std::vector<LayerKind> kinds;
  for (const LayerKind& kind : model.layers) {
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
    kinds.push_back(kind);
    add_layers(list, kind);
  }
  add_head(list);
  if (options.phase == Phase::train) add_backward(list);
  return list.kernels();
}

double kv_bytes_per_token(const ModelConfig& model, const StepOptions& options) {
  const StepList list(model, options);
  const double bytes = double(bytes_of(list.activations())) * double(model.layers.size());
  if (model.latent) return bytes * double(model.latent->kv_rank + model.latent->rope_size);
  return bytes * 2 * double(list.share.kv_heads) * double(model.head_size);
}

}  // namespace warpmeter
