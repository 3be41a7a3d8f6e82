// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/routing_problems.h"

#include <algorithm>
#include <cmath>

#include "kernels/llm/check.h"
#include "kernels/llm/moe_permute.h"
#include "kernels/llm/moe_route.h"

namespace warpmeter {
namespace {

constexpr std::int64_t checked_tokens = 16;

// Positive weights with the sum 1 for each token.
void fill_weights(const PermuteShape& shape, std::uint32_t seed, const Operand& weights) {
  fill_normal(weights, seed, 1);
  for (float* token = weights.f32(); token < weights.f32() + weights.count; token += shape.top) {
    float sum = 0;
    for (std::int64_t j = 0; j < shape.top; ++j) sum += token[j] = 0.25f + std::abs(token[j]);
    for (std::int64_t j = 0; j < shape.top; ++j) token[j] /= sum;
  }
}

}  // namespace

Problem moe_route_problem(const RouteShape& shape, std::uint32_t seed) {
  Problem problem;
  const std::int64_t chosen = shape.tokens * shape.top;
  const Operand& logits =
      add(problem, "logits", Role::input, shape.type, shape.tokens * shape.experts);
  const Operand& ids = add(problem, "ids", Role::output, Element::i32, chosen);
  const Operand& weights = add(problem, "weights", Role::output, Element::f32, chosen);
  fill_normal(logits, seed, 2);
  problem.checked_results = 2 * chosen;
  problem.verify = [=, &logits, &ids, &weights] { check_moe_route(shape, logits, ids, weights); };
  return problem;
}

Problem moe_permute_problem(const PermuteShape& shape, std::uint32_t seed) {
  Problem problem;
  const std::int64_t routed = shape.tokens * shape.top;
  const Operand& x = add(problem, "x", Role::input, shape.type, shape.tokens * shape.hidden);
  const Operand& ids = add(problem, "ids", Role::input, Element::i32, routed);
  const Operand& y =
      add(problem, "y", Role::output, shape.type, permuted_rows(shape) * shape.hidden);
  const Operand& rows = add(problem, "rows", Role::output, Element::i32, routed);
  const Operand& counts = add(problem, "counts", Role::output, Element::i32, shape.experts);
  const Operand& offsets = add(problem, "offsets", Role::output, Element::i32, shape.experts + 1);
  add(problem, "block_counts", Role::scratch, Element::i32, permute_blocks(shape) * shape.experts);
  fill_activations(x, shape.hidden, seed);
  fill_expert_ids(shape, seed, ids);
  problem.checked_results = routed * (shape.hidden + 1) + 2 * shape.experts + 1;
  problem.verify = [=, &x, &ids, &y, &rows, &counts, &offsets] {
    check_moe_permute(shape, {x, ids, y, rows, counts, offsets});
  };
  return problem;
}

Problem moe_unpermute_problem(const PermuteShape& shape, std::uint32_t seed) {
  Problem problem;
  const std::int64_t routed = shape.tokens * shape.top;
  const Operand& x =
      add(problem, "x", Role::input, shape.type, permuted_rows(shape) * shape.hidden);
  const Operand& rows = add(problem, "rows", Role::input, Element::i32, routed);
  const Operand& weights = add(problem, "weights", Role::input, Element::f32, routed);
  const Operand& y = add(problem, "y", Role::output, shape.type, shape.tokens * shape.hidden);
  fill_activations(x, shape.hidden, seed);
  fill_expert_ids(shape, seed, rows);
  std::ranges::copy(permutation(shape, rows).rows, rows.i32());
  fill_weights(shape, seed + 2, weights);
  const auto tokens = sampled(shape.tokens, checked_tokens, seed);
  problem.checked_results = static_cast<std::int64_t>(tokens.size()) * shape.hidden;
  problem.verify = [=, &x, &rows, &weights, &y] {
    check_moe_unpermute(shape, tokens, x, rows, weights, y);
  };
  return problem;
}

}  // namespace warpmeter
