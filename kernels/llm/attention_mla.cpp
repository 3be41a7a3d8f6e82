// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/attention_mla.h"

#include "kernels/llm/attention.h"
#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

constexpr std::int64_t row_size = mla_rank + mla_rope;

}  // namespace

Work mla_work(const MlaShape& s) {
  const auto e = static_cast<double>(bytes_of(s.type));
  const auto batch = static_cast<double>(s.batch), context = static_cast<double>(s.context);
  const auto rows = static_cast<double>(s.batch * s.heads);
  const auto pages = static_cast<double>(pages_per_sequence(s));
  const double scores = rows * context, rest = pages * static_cast<double>(s.page) - context;
  Work work;
  work.ops["f32"] = 5 * scores - rows;
  work.ops[to_string(s.type)] += 2 * scores * (row_size + mla_rank);
  work.ops["exp"] = scores;
  work.bytes_read = (rows + batch * context) * row_size * e + 4 * batch * (pages + 1);
  work.bytes_written = rows * mla_rank * e;
  work.working_set = work.bytes_read + work.bytes_written +
                     4 * rows * static_cast<double>(mla_splits(s)) * (mla_rank + 2) +
                     batch * rest * row_size * e;
  work.launches = 2;
  return work;
}

void check_mla(const MlaShape& s, std::span<const std::int64_t> pairs, const MlaChecked& p) {
  require_written(p.o);
  for (const std::int64_t pair : pairs) {
    const std::int64_t sequence = pair / s.heads;
    const auto row = [&](std::int64_t position) {
      const std::int64_t entry = sequence * pages_per_sequence(s) + position / s.page;
      return (p.block_table.i32()[entry] * s.page + position % s.page) * row_size;
    };
    check_attention_row({pair * row_size, pair * mla_rank, p.lengths.i32()[sequence], row_size,
                         mla_rank, mla_scale, 1, row, row},
                        p.q, p.cache, p.cache, p.o);
  }
}

}  // namespace warpmeter
