// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/measurement.h"
#include "kernels/llm/element.h"
#include "kernels/llm/model_config.h"

namespace warpmeter {

// prefill: all tokens of `batch` prompts of `context` tokens. decode: one new token of each of
// `batch` sequences, the last of `context` positions. train: forward, backward and one Adam step on
// `batch` sequences of `context` tokens.
enum class Phase { prefill, decode, train };

std::string to_string(Phase phase);
Phase parse_phase(std::string_view text);  // Throws InputError on any other text.

// One step as one rank sees it. `batch` is that of one group of tensor_parallel ranks.
//
// Tensor parallelism as in Megatron-LM (Shoeybi et al., arXiv:1909.08053): heads, columns of
// feed-forward blocks and the vocabulary are divided; KV heads too, and where there are fewer than
// ranks each is kept by several. Expert parallelism: the experts are divided over expert_parallel
// ranks. With no more of these than tensor_parallel, they are the same ranks, which all hold all
// tokens, and each expert is cut by tensor_parallel / expert_parallel; with more, several groups
// share the experts, and tokens travel. Routing is taken as even.
struct StepOptions {
  Phase phase = Phase::decode;
  std::int64_t batch = 1, context = 2048;
  std::int64_t tensor_parallel = 1, expert_parallel = 1;
  // Of weights and activations; e4m3: of the linear maps of layers, router excepted, all else bf16.
  Element type = Element::bf16;
};

// One kernel of a step.
struct StepKernel {
  std::string id;          // of the table's row: "kernel.gemm.prefill"
  std::string layer;       // its place: "qkv", "expert_down", "ffn_down.wgrad"
  Parameters shape;        // as in the points of that row, with `type`
  std::int64_t count = 0;  // executions per step
  std::string missing;     // why there is no kernel of ours for it; else empty
};

// The kernels of one step, in the order of their first execution, equal ones joined. GEMMs of at
// most 64 tokens are kernel.gemm.decode, those of e4m3 kernel.gemm.fp8. Not listed: additions of
// biases and of shared experts' results, copies, and what hides in other kernels. Throws InputError
// if the model cannot be divided so, with the nearest division that works.
std::vector<StepKernel> step_kernels(const ModelConfig& model, const StepOptions& options);

// Rows of tokens that expert-parallel rank `rank` computes in each layer with experts; the sum over
// ranks is (tokens of all groups) experts_per_token. step_kernels has rank 0, which has the most.
std::int64_t expert_rows(const ModelConfig& model, const StepOptions& options, std::int64_t rank);

// Bytes that one token adds to the cache of one rank: all layers' keys and values, or latent
// vectors, which tensor parallelism does not divide.
double kv_bytes_per_token(const ModelConfig& model, const StepOptions& options);

}  // namespace warpmeter
