// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/kv_append.h"

namespace warpmeter {

Problem kv_append_problem(const KvAppendShape& shape, std::uint32_t seed) {
  Problem problem;
  const std::int64_t cache = kv_pages(shape) * shape.page_size * shape.kv_heads * shape.head_size;
  const Operand& qkv =
      add(problem, "qkv", Role::input, shape.type, shape.tokens * token_stride(shape));
  const Operand& slots = add(problem, "slots", Role::input, Element::i32, shape.tokens);
  const Operand& scales = add(problem, "scales", Role::input, Element::f32, 2);
  const Operand& k_cache = add(problem, "k_cache", Role::output, shape.cache, cache);
  const Operand& v_cache = add(problem, "v_cache", Role::output, shape.cache, cache);
  fill_normal(qkv, seed, 1);
  fill_slots(shape, seed, slots);
  // Not quite what would map the largest value to 448, so that some values saturate.
  scales.f32()[0] = 0.0061f;
  scales.f32()[1] = 0.0073f;
  problem.checked_results = 2 * shape.tokens * shape.kv_heads * shape.head_size;
  problem.verify = [=, &qkv, &slots, &scales, &k_cache, &v_cache] {
    check_kv_append(shape, {qkv, slots, scales, k_cache, v_cache});
  };
  return problem;
}

}  // namespace warpmeter
