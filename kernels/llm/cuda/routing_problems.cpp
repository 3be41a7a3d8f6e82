// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/routing_problems.h"

#include "kernels/llm/moe_route.h"

namespace warpmeter {

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

}  // namespace warpmeter
