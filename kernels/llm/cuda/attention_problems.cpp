// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/attention.h"
#include "kernels/llm/check.h"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/problems.h"

namespace warpmeter {

Problem attention_decode_problem(const AttentionShape& s, std::uint32_t seed) {
  Problem problem;
  const std::int64_t parts = s.batch * s.heads * attention_splits(s);
  const Operand& q = add(problem, "q", Role::input, s.type, s.batch * s.heads * s.head_size);
  const Operand& k =
      add(problem, "k", Role::input, s.type, s.batch * s.kv_heads * s.context * s.head_size);
  const Operand& v = add(problem, "v", Role::input, s.type, k.count);
  const Operand& o = add(problem, "o", Role::output, s.type, q.count);
  add(problem, "partial", Role::scratch, Element::f32, parts * s.head_size);
  add(problem, "statistics", Role::scratch, Element::f32, 2 * parts);
  fill_normal(q, seed, 1);
  fill_normal(k, seed + 1, 1);
  fill_normal(v, seed + 2, 1);
  const auto pairs = sampled(s.batch * s.heads, 8, seed);
  problem.checked_results = static_cast<std::int64_t>(pairs.size()) * s.head_size;
  problem.verify = [=, &q, &k, &v, &o] { check_attention(s, pairs, q, k, v, o); };
  return problem;
}

Problem attention_prefill_problem(const AttentionShape& s, const AttentionLayout& layout,
                                  std::uint32_t seed) {
  Problem problem;
  const std::int64_t queries = s.batch * s.heads * s.context;
  const std::int64_t keys = s.batch * s.kv_heads * s.context;
  const Operand& qkv = add(problem, "qkv", Role::input, s.type, (queries + 2 * keys) * s.head_size);
  const Operand& o = add(problem, "o", Role::output, s.type, queries * s.head_size);
  fill_normal(qkv, seed, 1);
  const auto chosen = sampled(queries, 64, seed);
  problem.checked_results = static_cast<std::int64_t>(chosen.size()) * s.head_size;
  problem.verify = [=, &qkv, &o] { check_causal_attention(s, layout, chosen, qkv, qkv, qkv, o); };
  return problem;
}

}  // namespace warpmeter
