// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <memory>

#include "kernels/llm/check.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/layer_norm.h"
#include "kernels/llm/residual.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/rope.h"
#include "kernels/llm/softmax.h"

namespace warpmeter {
namespace {

constexpr std::int64_t checked_rows = 16;

struct Summands {
  const Operand &x, &residual;
};

// The inputs of a norm with a residual, first in the launch's order.
Summands add_summands(Problem& problem, const RowsShape& shape, std::uint32_t seed) {
  const std::int64_t elements = shape.rows * shape.columns;
  const Operand& x = add(problem, "x", Role::input, shape.type, elements);
  const Operand& residual = add(problem, "residual", Role::input, shape.type, elements);
  fill_normal(x, seed, 1);
  fill_activations(residual, shape.columns, seed + 3);
  return {x, residual};
}

}  // namespace

Problem rms_norm_problem(const RowsShape& shape, std::uint32_t seed) {
  Problem problem;
  const std::int64_t elements = shape.rows * shape.columns;
  const Operand& x = add(problem, "x", Role::input, shape.type, elements);
  const Operand& gain = add(problem, "gain", Role::input, shape.type, shape.columns);
  const Operand& y = add(problem, "y", Role::output, shape.type, elements);
  fill_activations(x, shape.columns, seed);
  fill_normal(gain, seed + 1, 1);
  const auto rows = sampled(shape.rows, checked_rows, seed);
  problem.checked_results = static_cast<std::int64_t>(rows.size()) * shape.columns;
  problem.verify = [=, &x, &gain, &y] { check_rms_norm(shape, rows, x, gain, y); };
  return problem;
}

Problem rms_norm_residual_problem(const RowsShape& shape, std::uint32_t seed) {
  Problem problem;
  const auto [x, residual] = add_summands(problem, shape, seed);
  const Operand& gain = add(problem, "gain", Role::input, shape.type, shape.columns);
  const Operand& h = add(problem, "h", Role::output, shape.type, x.count);
  const Operand& y = add(problem, "y", Role::output, shape.type, x.count);
  fill_normal(gain, seed + 1, 1);
  const auto rows = sampled(shape.rows, checked_rows, seed);
  problem.checked_results = 2 * static_cast<std::int64_t>(rows.size()) * shape.columns;
  problem.verify = [=, &x = x, &residual = residual, &gain, &h, &y] {
    check_residual(shape, rows, x, residual, h);
    check_rms_norm(shape, rows, h, gain, y);
  };
  return problem;
}

Problem layer_norm_problem(const RowsShape& shape, std::uint32_t seed) {
  Problem problem;
  const Operand& x = add(problem, "x", Role::input, shape.type, shape.rows * shape.columns);
  const Operand& gain = add(problem, "gain", Role::input, shape.type, shape.columns);
  const Operand& bias = add(problem, "bias", Role::input, shape.type, shape.columns);
  const Operand& y = add(problem, "y", Role::output, shape.type, x.count);
  fill_activations(x, shape.columns, seed);
  fill_normal(gain, seed + 1, 1);
  fill_normal(bias, seed + 2, 0.5);
  const auto rows = sampled(shape.rows, checked_rows, seed);
  problem.checked_results = static_cast<std::int64_t>(rows.size()) * shape.columns;
  problem.verify = [=, &x, &gain, &bias, &y] { check_layer_norm(shape, rows, {x, gain, bias, y}); };
  return problem;
}

Problem layer_norm_residual_problem(const RowsShape& shape, std::uint32_t seed) {
  Problem problem;
  const auto [x, residual] = add_summands(problem, shape, seed);
  const Operand& gain = add(problem, "gain", Role::input, shape.type, shape.columns);
  const Operand& bias = add(problem, "bias", Role::input, shape.type, shape.columns);
  const Operand& h = add(problem, "h", Role::output, shape.type, x.count);
  const Operand& y = add(problem, "y", Role::output, shape.type, x.count);
  fill_normal(gain, seed + 1, 1);
  fill_normal(bias, seed + 2, 0.5);
  const auto rows = sampled(shape.rows, checked_rows, seed);
  problem.checked_results = 2 * static_cast<std::int64_t>(rows.size()) * shape.columns;
  problem.verify = [=, &x = x, &residual = residual, &gain, &bias, &h, &y] {
    check_residual(shape, rows, x, residual, h);
    check_layer_norm(shape, rows, {h, gain, bias, y});
  };
  return problem;
}

Problem softmax_problem(const RowsShape& shape, std::uint32_t seed) {
  Problem problem;
  const Operand& x = add(problem, "x", Role::input, shape.type, shape.rows * shape.columns);
  const Operand& y = add(problem, "y", Role::output, shape.type, x.count);
  fill_normal(x, seed, 3);
  const auto rows = sampled(shape.rows, checked_rows, seed);
  problem.checked_results = static_cast<std::int64_t>(rows.size()) * shape.columns;
  problem.verify = [=, &x, &y] { check_softmax(shape, rows, x, y); };
  return problem;
}

Problem gather_problem(const GatherShape& shape, std::uint32_t seed) {
  Problem problem;
  const Operand& ids = add(problem, "ids", Role::input, Element::i32, shape.rows);
  const Operand& table =
      add(problem, "table", Role::input, shape.type, shape.vocabulary * shape.columns);
  const Operand& y = add(problem, "y", Role::output, shape.type, shape.rows * shape.columns);
  fill_gather(shape, seed, ids, table);
  problem.checked_results = y.count;
  problem.verify = [=, &ids, &y] { check_gather(shape, seed, ids, y); };
  return problem;
}

Problem rope_problem(const RopeShape& shape, std::uint32_t seed) {
  Problem problem;
  const std::int64_t elements = shape.tokens * shape.heads * shape.head_size;
  const std::int64_t table = rope_positions(shape) * shape.head_size / 2;
  const Operand& x = add(problem, "x", Role::input, shape.type, elements);
  const Operand& positions = add(problem, "positions", Role::input, Element::i32, shape.tokens);
  const Operand& cosines = add(problem, "cosines", Role::input, Element::f32, table);
  const Operand& sines = add(problem, "sines", Role::input, Element::f32, table);
  const Operand& y = add(problem, "y", Role::output, shape.type, elements);
  fill_normal(x, seed, 1);
  fill_rope(shape, seed, positions, cosines, sines);
  const auto tokens = sampled(shape.tokens, checked_rows, seed);
  problem.checked_results =
      static_cast<std::int64_t>(tokens.size()) * shape.heads * shape.head_size;
  problem.verify = [=, &x, &positions, &cosines, &sines, &y] {
    check_rope(shape, tokens, {x, positions, cosines, sines, y});
  };
  return problem;
}

Problem rope_packed_problem(const RopeShape& shape, std::uint32_t seed) {
  Problem problem;
  const std::int64_t table = rope_positions(shape) * shape.head_size / 2;
  const Operand& qkv =
      add(problem, "qkv", Role::updated, shape.type, shape.tokens * token_stride(shape));
  const Operand& positions = add(problem, "positions", Role::input, Element::i32, shape.tokens);
  const Operand& cosines = add(problem, "cosines", Role::input, Element::f32, table);
  const Operand& sines = add(problem, "sines", Role::input, Element::f32, table);
  const auto before = std::make_shared<Operand>("before", Role::input, qkv.type, qkv.count);
  fill_normal(qkv, seed, 1);
  fill_normal(*before, seed, 1);
  fill_rope(shape, seed, positions, cosines, sines);
  const auto tokens = sampled(shape.tokens, checked_rows, seed);
  problem.checked_results = static_cast<std::int64_t>(tokens.size()) * token_stride(shape);
  problem.verify = [=, &qkv, &positions, &cosines, &sines] {
    check_rope_in_place(shape, tokens, {*before, positions, cosines, sines, qkv});
  };
  return problem;
}

}  // namespace warpmeter
