// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/check.h"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/points.h"
#include "kernels/llm/sample.h"

namespace warpmeter {
namespace {

constexpr std::int64_t most_tokens = 1 << 23;  // what a key holds (sample.cu)

Refusal sampling(const SampleShape& shape) {
  if (shape.vocabulary > most_tokens)
    return fmt::format("vocabulary {}; at most {}", shape.vocabulary, most_tokens);
  if (shape.type != Element::f32) return "type " + to_string(shape.type) + ": logits are f32";
  if (!(shape.temperature > 0)) return "temperature 0 divides by zero; top_k 1 takes the largest";
  if (!(shape.top_p > 0)) return "top_p 0 keeps nothing; top_k 1 takes the largest";
  return std::nullopt;
}

const Row<SampleShape> sample = {
    "kernel.sample",
    "One block per row: radix search of the last token of top-k, then of top-p, by sums of whole "
    "numbers; inverse distribution function of one uniform number.",
    sample_points,
    sample_shape,
    sample_work,
    sample_problem,
    [](const SampleShape& shape, Operands p, cudaStream_t stream) {
      launch_sample(shape, p[0], p[1], p[2], stream);
    },
    sampling};

}  // namespace

Problem sample_problem(const SampleShape& shape, std::uint32_t seed) {
  Problem problem;
  const Operand& logits =
      add(problem, "logits", Role::input, Element::f32, shape.rows * shape.vocabulary);
  const Operand& uniforms = add(problem, "uniforms", Role::input, Element::f32, shape.rows);
  const Operand& tokens = add(problem, "tokens", Role::output, Element::i32, shape.rows);
  fill_normal(logits, seed, 3);
  fill_uniform(uniforms, seed);
  const auto rows = sampled(shape.rows, 16, seed);
  problem.checked_results = static_cast<std::int64_t>(rows.size());
  problem.verify = [=, &logits, &uniforms, &tokens] {
    check_sample(shape, rows, {logits, uniforms, tokens});
  };
  return problem;
}

std::vector<Benchmark> cuda_sample_kernels() { return {benchmark(sample)}; }

}  // namespace warpmeter
