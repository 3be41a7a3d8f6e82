// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/check.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/quantize.h"

namespace warpmeter {
namespace {

Problem quantize_problem(const RowsShape& shape, std::int64_t group, std::uint32_t seed) {
  Problem problem;
  const std::int64_t groups = shape.rows * groups_per_row(shape, group);
  const Operand& x = add(problem, "x", Role::input, shape.type, shape.rows * shape.columns);
  const Operand& y = add(problem, "y", Role::output, Element::e4m3, x.count);
  const Operand& scales = add(problem, "scales", Role::output, Element::f32, groups);
  fill_activations(x, shape.columns, seed);
  const auto rows = sampled(shape.rows, 16, seed);
  problem.checked_results = static_cast<std::int64_t>(rows.size()) * shape.columns;
  problem.verify = [=, &x, &y, &scales] { check_quantize(shape, group, rows, {x, y, scales}); };
  return problem;
}

}  // namespace

Problem quantize_token_problem(const RowsShape& shape, std::uint32_t seed) {
  return quantize_problem(shape, shape.columns, seed);
}

Problem quantize_block_problem(const RowsShape& shape, std::uint32_t seed) {
  return quantize_problem(shape, quantize_columns, seed);
}

}  // namespace warpmeter
