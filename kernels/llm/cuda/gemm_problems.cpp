// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cmath>

#include "kernels/llm/check.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/gemm_grouped.h"
#include "kernels/llm/gemm_int4.h"
#include "kernels/llm/gemm_scaled.h"

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

Problem scaled_gemm_problem(const GemmShape& shape, std::uint32_t seed) {
  Problem problem;
  const ScaledGemm p = {
      add(problem, "activations", Role::input, shape.type, shape.m * shape.k),
      add(problem, "weights", Role::input, shape.type, shape.n * shape.k),
      add(problem, "token scales", Role::input, Element::f32, shape.m),
      add(problem, "channel scales", Role::input, Element::f32, shape.n),
      add(problem, "result", Role::output, Element::bf16, shape.m * shape.n),
  };
  fill_scaled_gemm(shape, seed, p);
  const GemmReference expected(shape, p.activations, p.weights, 1, shape.k, seed + 4);
  problem.checked_results = static_cast<std::int64_t>(expected.sums.size());
  problem.verify = [=] { check_scaled_gemm(shape, expected, p); };
  return problem;
}

Problem whole_gemm_problem(const GemmShape& shape, std::uint32_t seed) {
  Problem problem;
  const Operand& a = add(problem, "activations", Role::input, shape.type, shape.m * shape.k);
  const Operand& w = add(problem, "weights", Role::input, shape.type, shape.n * shape.k);
  const Operand& c = add(problem, "result", Role::output, Element::i32, shape.m * shape.n);
  fill_normal(a, seed, 32);
  fill_normal(w, seed + 1, 32);
  const GemmReference expected(shape, a, w, 1, shape.k, seed + 2);
  problem.checked_results = static_cast<std::int64_t>(expected.sums.size());
  problem.verify = [=, &c] {
    std::size_t i = 0;
    for (const std::int64_t row : expected.rows)
      for (const std::int64_t column : expected.columns) {
        const std::int64_t at = row * shape.n + column;
        require_close("gemm", at, c.at(at), expected.sums[i++], 0);
      }
  };
  return problem;
}

Problem int4_gemm_problem(const GemmShape& shape, std::uint32_t seed) {
  Problem problem;
  const Operand& a = add(problem, "activations", Role::input, shape.type, shape.m * shape.k);
  const Operand& w = add(problem, "weights", Role::input, Element::u8, shape.n * shape.k / 2);
  const Operand& groups =
      add(problem, "groups", Role::input, shape.type, 2 * shape.n * shape.k / int4_group);
  const Operand& c = add(problem, "result", Role::output, shape.type, shape.m * shape.n);
  fill_activations(a, shape.k, seed);
  const Operand plain("plain weights", Role::input, Element::f32, shape.n * shape.k);
  fill_int4(shape, seed + 1, w, groups, plain);
  const GemmReference expected(shape, a, plain, 1, shape.k, seed + 2);
  problem.checked_results = static_cast<std::int64_t>(expected.sums.size());
  problem.verify = [=, &c] { expected.check(shape, c); };
  return problem;
}

Problem grouped_gemm_problem(const GroupedGemmShape& shape,
                             std::span<const std::int64_t> rows_of_expert, std::uint32_t seed) {
  Problem problem;
  const std::int64_t weights = shape.experts * shape.n * shape.k;
  const GroupedGemm p = {
      add(problem, "activations", Role::input, shape.type, shape.rows * shape.k),
      add(problem, "weights", Role::input, shape.type, weights),
      add(problem, "offsets", Role::input, Element::i32, shape.experts + 1),
      add(problem, "result", Role::output, shape.type, shape.rows * shape.n),
  };
  fill_grouped_gemm(shape, rows_of_expert, seed, p);
  const GroupedGemmReference expected(shape, p, seed + 2);
  problem.checked_results = static_cast<std::int64_t>(expected.sums.size());
  problem.verify = [=, &result = p.result] {
    expected.check({shape.rows, shape.n, shape.k, shape.type}, result);
  };
  return problem;
}

Problem grouped_gemm_problem(const GroupedGemmShape& shape, std::uint32_t seed) {
  return grouped_gemm_problem(shape, draw_rows(shape, seed), seed + 1);
}

}  // namespace warpmeter
