// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cmath>

#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/gemm.h"

namespace warpmeter {

Problem gemm_problem(const GemmShape& shape, std::uint32_t seed) {
  Problem problem;
  const Operand& a = add(problem, "activations", Role::input, shape.type, shape.m * shape.k);
  const Operand& w = add(problem, "weights", Role::input, shape.type, shape.n * shape.k);
  const Operand& c = add(problem, "result", Role::output, shape.type, shape.m * shape.n);
  fill_activations(a, shape.k, seed);
  fill_normal(w, seed + 1, 1 / std::sqrt(static_cast<double>(shape.k)));
  const GemmReference expected(shape, a, w, 1, shape.k, seed + 2);
  problem.checked_results = static_cast<std::int64_t>(expected.sums.size());
  problem.verify = [=, &c] { expected.check(shape, c); };
  return problem;
}

}  // namespace warpmeter
