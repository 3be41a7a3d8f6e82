// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/step_list.h"

namespace warpmeter {
namespace {

// A gated block on all tokens: gate and up in one product.
void add_gated(StepList& list, const std::string& name, std::int64_t columns, std::int64_t count) {
  const std::int64_t tokens = list.share.tokens, hidden = list.model.hidden;
  const Element type = list.options.type;
  list.linear(name + "_gate_up", tokens, 2 * columns, hidden, count, type);
  list.rows("kernel.swiglu", name + "_swiglu", tokens, columns, count);
  list.linear(name + "_down", tokens, hidden, columns, count, type);
}

void add_exchange(StepList& list, const std::string& layer, std::int64_t count) {
  if (!list.share.tokens_travel) return;
  const std::int64_t rows = list.share.routed_tokens * list.model.experts_per_token;
  list.add("kernel.all_to_all", layer,
           {{"rows", double(rows)},
            {"columns", double(list.model.hidden)},
            {"ranks", double(list.options.expert_parallel)}},
           count, "no exchange between ranks here; --ep up to --tp needs none");
}

void add_move(StepList& list, const std::string& id, const std::string& layer, std::int64_t count) {
  list.add(id, layer,
           {{"rows", double(list.share.routed_tokens)},
            {"columns", double(list.model.hidden)},
            {"experts", double(list.model.experts)},
            {"top", double(list.model.experts_per_token)},
            {"multiple", 1.0}},  // experts' rows follow each other without gaps
           count);
}

void add_experts(StepList& list, std::int64_t count) {
  const ModelConfig& model = list.model;
  const Shares& share = list.share;
  const Element type = list.options.type;
  // Routers stay in 16 bits in models with 8-bit weights.
  list.linear("router", share.tokens, model.experts, model.hidden, count, list.activations());
  list.add("kernel.moe.route", "route",
           {{"rows", double(share.tokens)},
            {"experts", double(model.experts)},
            {"top", double(model.experts_per_token)}},
           count);
  add_move(list, "kernel.moe.permute", "permute", count);
  add_exchange(list, "dispatch", count);
  const double share_of_token = double(model.experts_per_token) / double(model.experts);
  list.grouped("expert_gate_up", share.experts, share.expert_rows, 2 * share.expert_intermediate,
               model.hidden, count, type, share_of_token);
  list.rows("kernel.swiglu", "expert_swiglu", share.expert_rows, share.expert_intermediate, count);
  list.grouped("expert_down", share.experts, share.expert_rows, model.hidden,
               share.expert_intermediate, count, type, share_of_token);
  add_exchange(list, "combine", count);
  add_move(list, "kernel.moe.unpermute", "unpermute", count);
  if (share.shared_intermediate > 0) add_gated(list, "shared", share.shared_intermediate, count);
}

}  // namespace

void add_feed_forward(StepList& list, const LayerKind& kind, std::int64_t count) {
  if (kind.experts) {
    add_experts(list, count);
  } else {
    add_gated(list, "ffn", list.share.intermediate, count);
  }
  list.all_reduce("ffn_down.sum", list.model.hidden, count);
}

}  // namespace warpmeter
