// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/training_problems.h"

#include <random>

#include "kernels/llm/adam.h"
#include "kernels/llm/check.h"
#include "kernels/llm/cross_entropy.h"
#include "kernels/llm/rms_norm_backward.h"

namespace warpmeter {
namespace {

constexpr std::int64_t checked_rows = 16;

}  // namespace

Problem rms_norm_backward_problem(const RowsShape& shape, std::uint32_t seed) {
  Problem problem;
  const std::int64_t elements = shape.rows * shape.columns;
  const Operand& x = add(problem, "x", Role::input, shape.type, elements);
  const Operand& gain = add(problem, "gain", Role::input, shape.type, shape.columns);
  const Operand& dy = add(problem, "dy", Role::input, shape.type, elements);
  const Operand& dx = add(problem, "dx", Role::output, shape.type, elements);
  const Operand& dgain = add(problem, "dgain", Role::output, Element::f32, shape.columns);
  add(problem, "partial", Role::scratch, Element::f32,
      rms_norm_backward_blocks(shape) * shape.columns);
  fill_activations(x, shape.columns, seed);
  fill_normal(gain, seed + 1, 1);
  fill_normal(dy, seed + 2, 1);
  const auto rows = sampled(shape.rows, checked_rows, seed);
  problem.checked_results = (static_cast<std::int64_t>(rows.size()) + 1) * shape.columns;
  problem.verify = [=, &x, &gain, &dy, &dx, &dgain] {
    check_rms_norm_backward(shape, rows, {x, gain, dy, dx, dgain});
  };
  return problem;
}

Problem cross_entropy_problem(const RowsShape& shape, std::uint32_t seed) {
  Problem problem;
  const Operand& logits =
      add(problem, "logits", Role::input, shape.type, shape.rows * shape.columns);
  const Operand& targets = add(problem, "targets", Role::input, Element::i32, shape.rows);
  const Operand& loss = add(problem, "loss", Role::output, Element::f32, shape.rows);
  const Operand& gradient = add(problem, "gradient", Role::output, shape.type, logits.count);
  fill_normal(logits, seed, 3);
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int32_t> any(0, static_cast<std::int32_t>(shape.columns) - 1);
  for (std::int64_t row = 0; row < shape.rows; ++row) targets.i32()[row] = any(random);
  const auto rows = sampled(shape.rows, 8, seed);
  problem.checked_results = static_cast<std::int64_t>(rows.size()) * (shape.columns + 1);
  problem.verify = [=, &logits, &targets, &loss, &gradient] {
    check_cross_entropy(shape, rows, {logits, targets, loss, gradient});
  };
  return problem;
}

Problem adam_problem(const RowsShape& shape, std::uint32_t seed) {
  Problem problem;
  const std::int64_t elements = shape.rows * shape.columns;
  const Operand& w = add(problem, "w", Role::updated, Element::f32, elements);
  const Operand& m = add(problem, "m", Role::updated, Element::f32, elements);
  const Operand& v = add(problem, "v", Role::updated, Element::f32, elements);
  const Operand& gradient = add(problem, "gradient", Role::input, shape.type, elements);
  const Operand& copy = add(problem, "copy", Role::output, Element::bf16, elements);
  fill_adam(seed, {w, m, v, gradient, copy});
  const auto checked = sampled(elements, elements <= 1 << 18 ? elements : 1 << 16, seed);
  problem.checked_results = 4 * static_cast<std::int64_t>(checked.size());
  problem.verify = [=, &w, &m, &v, &gradient, &copy] {
    check_adam(adam_factors(adam_timed_step), seed, checked, {w, m, v, gradient, copy});
  };
  return problem;
}

}  // namespace warpmeter
