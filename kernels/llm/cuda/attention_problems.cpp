// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "kernels/llm/attention.h"
#include "kernels/llm/attention_mla.h"
#include "kernels/llm/check.h"
#include "kernels/llm/cuda/problems.h"

namespace warpmeter {

namespace {

// Pages of all sequences in random order; no page where the sequence has ended.
void fill_pages(const Operand& table, const Operand& lengths, std::int64_t page,
                std::uint32_t seed) {
  std::vector<std::int32_t> pages(static_cast<std::size_t>(table.count));
  std::iota(pages.begin(), pages.end(), 0);
  std::shuffle(pages.begin(), pages.end(), std::mt19937(seed));
  const std::int64_t columns = table.count / lengths.count;
  for (std::int64_t i = 0; i < table.count; ++i) {
    const bool used = i % columns * page < lengths.i32()[i / columns];
    table.i32()[i] = used ? pages[static_cast<std::size_t>(i)] : -1;
  }
}

// Nothing may read positions that no sequence has: pages that nothing uses, and the rest of each
// sequence's last one. `heads` sets of `page` rows of `size` elements are a page.
void poison_unused(const Operand& cache, const Operand& table, const Operand& lengths,
                   std::int64_t heads, std::int64_t page, std::int64_t size) {
  const std::int64_t columns = table.count / lengths.count;
  std::vector<std::int64_t> used(static_cast<std::size_t>(table.count), 0);  // positions of a page
  for (std::int64_t i = 0; i < table.count; ++i)
    if (const std::int64_t left = lengths.i32()[i / columns] - i % columns * page; left > 0)
      used[static_cast<std::size_t>(table.i32()[i])] = std::min(left, page);
  const std::size_t row = static_cast<std::size_t>(size) * bytes_of(cache.type);
  for (std::size_t block = 0; block < used.size() * static_cast<std::size_t>(heads); ++block) {
    const auto present = static_cast<std::size_t>(used[block / static_cast<std::size_t>(heads)]);
    const auto all = static_cast<std::size_t>(page);
    std::memset(cache.memory.data() + (block * all + present) * row, 0xff, (all - present) * row);
  }
}

}  // namespace

Problem attention_decode_problem(const DecodeShape& s, std::span<const std::int32_t> each,
                                 std::uint32_t seed) {
  Problem problem;
  const std::int64_t pages = s.batch * pages_per_sequence(s);
  const std::int64_t parts = s.batch * s.heads * attention_splits(s.context);
  const Operand& qkv = add(problem, "qkv", Role::input, s.type, s.batch * packed_row(s));
  const Operand& k =
      add(problem, "k", Role::input, s.cache, pages * s.kv_heads * s.page * s.head_size);
  const Operand& v = add(problem, "v", Role::input, s.cache, k.count);
  const Operand& table = add(problem, "block_table", Role::input, Element::i32, pages);
  const Operand& lengths = add(problem, "lengths", Role::input, Element::i32, s.batch);
  const Operand& scales = add(problem, "scales", Role::input, Element::f32, 2);
  const Operand& o = add(problem, "o", Role::output, s.type, s.batch * s.heads * s.head_size);
  add(problem, "partial", Role::scratch, Element::f32, parts * s.head_size);
  add(problem, "statistics", Role::scratch, Element::f32, 2 * parts);
  std::copy(each.begin(), each.end(), lengths.i32());
  fill_pages(table, lengths, s.page, seed);
  scales.f32()[0] = s.cache == Element::e4m3 ? 0.3f : 1.0f;
  scales.f32()[1] = s.cache == Element::e4m3 ? 0.7f : 1.0f;
  fill_normal(qkv, seed, 1);
  fill_normal(k, seed + 1, 1 / scales.at(0));
  fill_normal(v, seed + 2, 1 / scales.at(1));
  for (const Operand* cache : {&k, &v})
    poison_unused(*cache, table, lengths, s.kv_heads, s.page, s.head_size);
  const auto pairs = sampled(s.batch * s.heads, 8, seed);
  problem.checked_results = static_cast<std::int64_t>(pairs.size()) * s.head_size;
  problem.verify = [=, &qkv, &k, &v, &table, &lengths, &scales, &o] {
    check_paged_attention(s, pairs, {qkv, k, v, table, lengths, scales, o});
  };
  return problem;
}

Problem attention_mla_problem(const MlaShape& s, std::span<const std::int32_t> each,
                              std::uint32_t seed) {
  Problem problem;
  constexpr std::int64_t row = mla_rank + mla_rope;
  const std::int64_t pages = s.batch * pages_per_sequence(s), rows = s.batch * s.heads;
  const Operand& q = add(problem, "q", Role::input, s.type, rows * row);
  const Operand& cache = add(problem, "cache", Role::input, s.type, pages * s.page * row);
  const Operand& table = add(problem, "block_table", Role::input, Element::i32, pages);
  const Operand& lengths = add(problem, "lengths", Role::input, Element::i32, s.batch);
  const Operand& o = add(problem, "o", Role::output, s.type, rows * mla_rank);
  add(problem, "partial", Role::scratch, Element::f32, rows * mla_splits(s) * mla_rank);
  add(problem, "statistics", Role::scratch, Element::f32, rows * mla_splits(s) * 2);
  std::copy(each.begin(), each.end(), lengths.i32());
  fill_pages(table, lengths, s.page, seed);
  fill_normal(q, seed, 1);
  fill_normal(cache, seed + 1, 1);
  poison_unused(cache, table, lengths, 1, s.page, row);
  const auto pairs = sampled(rows, 8, seed);
  problem.checked_results = static_cast<std::int64_t>(pairs.size()) * mla_rank;
  problem.verify = [=, &q, &cache, &table, &lengths, &o] {
    check_mla(s, pairs, {q, cache, table, lengths, o});
  };
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
