// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "core/measurement.h"
#include "core/work.h"
#include "kernels/llm/attention_shapes.h"
#include "kernels/llm/model_config.h"
#include "kernels/llm/step.h"

namespace warpmeter {

// A stack of dense decoder layers of the Llama form with everything around them: embedding, layers
// of RMSNorm, attention with rotary embedding and a paged cache, RMSNorm and SwiGLU block; RMSNorm,
// output projection. One step of it in bf16, with random weights:
//   prefill  all tokens of `batch` prompts of `context` tokens
//   decode   one token of each of `batch` sequences, the last of `context` positions
struct StackShape {
  std::int64_t layers = 0, hidden = 0, intermediate = 0;
  std::int64_t heads = 0, kv_heads = 0, head_size = 0, vocabulary = 0;
  Phase phase = Phase::decode;
  std::int64_t batch = 1, context = 2048, page = 16;
};

inline constexpr Element stack_type = Element::bf16;

// Of one step.
constexpr std::int64_t step_tokens(const StackShape& s) {
  return s.phase == Phase::decode ? s.batch : s.batch * s.context;
}
// Columns of the joint product for queries, keys and values.
constexpr std::int64_t qkv_columns(const StackShape& s) {
  return (s.heads + 2 * s.kv_heads) * s.head_size;
}

// Attention of one layer.
AttentionShape prefill_attention(const StackShape& shape);
DecodeShape decode_attention(const StackShape& shape);

// The first `layers` layers of the model. Throws InputError for what the stack does not have:
// experts, latent attention, sliding windows, norms of queries and keys; and for training.
StackShape stack_shape(const ModelConfig& model, std::int64_t layers, Phase phase,
                       std::int64_t batch, std::int64_t context);

// A point of kernel.step and back. The latter throws InputError if a number is missing or none.
Parameters stack_point(const StackShape& shape, const std::string& model);
StackShape stack_shape(const Parameters& point);

// The sum over the step's kernels, each as its own model has it: every kernel reads its operands
// and writes its results once. working_set: all weights, the caches and one set of intermediates.
Work stack_work(const StackShape& shape);

}  // namespace warpmeter
