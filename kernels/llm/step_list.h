// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "kernels/llm/step.h"

namespace warpmeter {

// What one rank holds of a model, and how much it computes. Throws InputError for a division that
// leaves a rest.
struct Shares {
  Shares(const ModelConfig& model, const StepOptions& options);

  std::int64_t tokens;  // of its group
  std::int64_t heads, kv_heads;
  std::int64_t intermediate, shared_intermediate, expert_intermediate;
  std::int64_t vocabulary;
  std::int64_t experts;
  std::int64_t expert_rows;    // with all copies
  std::int64_t routed_tokens;  // whose copies it makes and joins
  bool tokens_travel;          // to experts of other groups
};

// The growing list. Each function appends `count` executions; shapes are those of one rank.
class StepList {
 public:
  StepList(const ModelConfig& model, const StepOptions& options);

  const ModelConfig& model;
  const StepOptions& options;
  const Shares share;

  Element activations() const;  // bf16 for e4m3
  bool keeps_cache() const { return options.phase != Phase::train; }

  void add(const std::string& id, const std::string& layer, Parameters shape, std::int64_t count,
           const std::string& missing = "");

  // [m, n] = [m, k] weights; `weights_type` and, for e4m3, the quantization of its input.
  void linear(const std::string& layer, std::int64_t m, std::int64_t n, std::int64_t k,
              std::int64_t count, Element type);
  // The same for `groups` sets of weights; group_rows counts the rows of all, and a token goes to
  // each with the probability share_of_token.
  void grouped(const std::string& layer, std::int64_t groups, std::int64_t group_rows,
               std::int64_t n, std::int64_t k, std::int64_t count, Element type,
               double share_of_token);
  // A kernel on a matrix of activations.
  void rows(const std::string& id, const std::string& layer, std::int64_t rows,
            std::int64_t columns, std::int64_t count);
  void norm(const std::string& id, const std::string& layer, std::int64_t rows,
            std::int64_t columns, std::int64_t count);
  // Sums a matrix of activations over the ranks of the group; nothing for one rank.
  void all_reduce(const std::string& layer, std::int64_t columns, std::int64_t count);

  // Numbers that this rank holds: those of the kernels so far.
  double weights() const { return weights_; }
  void hold(double weights) { weights_ += weights; }
  std::vector<StepKernel>& kernels() { return kernels_; }

 private:
  void quantize(const std::string& layer, std::int64_t rows, std::int64_t columns,
                std::int64_t count, Element type);

  std::vector<StepKernel> kernels_;
  double weights_ = 0;
};

// The parts of a step (step.cpp puts them together), for `count` layers.
void add_attention(StepList& list, const LayerKind& kind, std::int64_t count);
void add_feed_forward(StepList& list, const LayerKind& kind, std::int64_t count);
// Appends the backward pass of what is there, and the optimizer.
void add_backward(StepList& list);

}  // namespace warpmeter
