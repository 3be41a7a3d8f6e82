// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/check.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/geglu.h"
#include "kernels/llm/swiglu.h"

namespace warpmeter {
namespace {

using Check = void (*)(const RowsShape&, std::span<const std::int64_t> rows, const GatedInput&,
                       const Operand& y);

constexpr std::int64_t checked_rows = 16;

Problem separate_problem(const RowsShape& shape, std::uint32_t seed, Check check) {
  Problem problem;
  const Operand& gate = add(problem, "gate", Role::input, shape.type, shape.rows * shape.columns);
  const Operand& up = add(problem, "up", Role::input, shape.type, gate.count);
  const Operand& y = add(problem, "y", Role::output, shape.type, gate.count);
  fill_normal(gate, seed, 2);
  fill_normal(up, seed + 1, 1);
  const auto rows = sampled(shape.rows, checked_rows, seed);
  problem.checked_results = static_cast<std::int64_t>(rows.size()) * shape.columns;
  problem.verify = [=, &gate, &up, &y] { check(shape, rows, separate(shape, gate, up), y); };
  return problem;
}

Problem packed_problem(const RowsShape& shape, std::uint32_t seed, Check check) {
  Problem problem;
  const Operand& gate_up =
      add(problem, "gate_up", Role::input, shape.type, 2 * shape.rows * shape.columns);
  const Operand& y = add(problem, "y", Role::output, shape.type, shape.rows * shape.columns);
  fill_normal(gate_up, seed, 2);
  const auto rows = sampled(shape.rows, checked_rows, seed);
  problem.checked_results = static_cast<std::int64_t>(rows.size()) * shape.columns;
  problem.verify = [=, &gate_up, &y] { check(shape, rows, packed(shape, gate_up), y); };
  return problem;
}

}  // namespace

Problem swiglu_problem(const RowsShape& shape, std::uint32_t seed) {
  return separate_problem(shape, seed, check_swiglu);
}

Problem swiglu_packed_problem(const RowsShape& shape, std::uint32_t seed) {
  return packed_problem(shape, seed, check_swiglu);
}

Problem geglu_problem(const RowsShape& shape, std::uint32_t seed) {
  return separate_problem(shape, seed, check_geglu);
}

Problem geglu_packed_problem(const RowsShape& shape, std::uint32_t seed) {
  return packed_problem(shape, seed, check_geglu);
}

}  // namespace warpmeter
