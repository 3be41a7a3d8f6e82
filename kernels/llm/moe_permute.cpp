// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/moe_permute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

std::size_t row_bytes(const PermuteShape& shape) {
  return static_cast<std::size_t>(shape.hidden) * bytes_of(shape.type);
}

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

void check_equal(const char* what, const Operand& actual, std::span<const std::int32_t> expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    require_close(what, static_cast<std::int64_t>(i), actual.i32()[i], expected[i], 0);
}

// The token whose row stands there, -1 for padding.
std::vector<std::int64_t> sources(const PermuteShape& shape, const Permutation& expected) {
  std::vector<std::int64_t> result(index(expected.offsets.back()), -1);
  for (std::int64_t i = 0; i < shape.tokens * shape.top; ++i)
    result[index(expected.rows[index(i)])] = i / shape.top;
  return result;
}

}  // namespace

Work moe_permute_work(const PermuteShape& shape) {
  const auto row = static_cast<double>(row_bytes(shape));
  const auto tokens = static_cast<double>(shape.tokens);
  const auto routed = static_cast<double>(shape.tokens * shape.top);
  const auto experts = static_cast<double>(shape.experts);
  Work work;
  work.bytes_read = tokens * row + 4 * routed;
  work.bytes_written = routed * (row + 4) + 4 * (2 * experts + 1);
  work.working_set = work.bytes_read + work.bytes_written +
                     4 * static_cast<double>(permute_blocks(shape)) * experts;
  work.launches = 3;
  return work;
}

Work moe_unpermute_work(const PermuteShape& shape) {
  const auto row = static_cast<double>(row_bytes(shape));
  const auto routed = static_cast<double>(shape.tokens * shape.top);
  Work work;
  work.ops["f32"] = 2 * routed * static_cast<double>(shape.hidden);
  work.bytes_read = routed * (row + 8);
  work.bytes_written = static_cast<double>(shape.tokens) * row;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

void fill_expert_ids(const PermuteShape& shape, std::uint32_t seed, const Operand& ids) {
  std::vector<std::int32_t> order(index(shape.experts));
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> logits(order.size());
  for (std::int64_t t = 0; t < shape.tokens; ++t) {
    for (std::int64_t e = 0; e < shape.experts; ++e)
      logits[index(e)] = normal_value(t * shape.experts + e, seed, 1, Element::f32) +
                         normal_value(e, seed + 1, 1, Element::f32);
    std::ranges::partial_sort(order, order.begin() + shape.top, std::ranges::greater{},
                              [&](std::int32_t e) { return logits[index(e)]; });
    std::copy_n(order.begin(), shape.top, ids.i32() + t * shape.top);
  }
}

Permutation permutation(const PermuteShape& shape, const Operand& ids) {
  const std::int64_t routed = shape.tokens * shape.top;
  Permutation result;
  result.counts.resize(index(shape.experts));
  for (std::int64_t i = 0; i < routed; ++i) ++result.counts[index(ids.i32()[i])];
  result.offsets = {0};
  for (const std::int32_t count : result.counts) {
    const std::int64_t segments = (count + shape.multiple - 1) / shape.multiple;
    result.offsets.push_back(result.offsets.back() +
                             static_cast<std::int32_t>(segments * shape.multiple));
  }
  std::vector<std::int32_t> next = result.offsets;
  for (std::int64_t i = 0; i < routed; ++i) result.rows.push_back(next[index(ids.i32()[i])]++);
  return result;
}

void check_moe_permute(const PermuteShape& shape, const PermuteOperands& operands) {
  const Permutation expected = permutation(shape, operands.ids);
  check_equal("count", operands.counts, expected.counts);
  check_equal("offset", operands.offsets, expected.offsets);
  check_equal("row", operands.rows, expected.rows);
  const std::size_t bytes = row_bytes(shape);
  const std::vector<std::byte> zeros(bytes);
  const std::vector<std::int64_t> source = sources(shape, expected);
  for (std::size_t row = 0; row < source.size(); ++row) {
    const std::byte* right =
        source[row] < 0 ? zeros.data() : operands.x.memory.data() + index(source[row]) * bytes;
    if (std::memcmp(operands.y.memory.data() + row * bytes, right, bytes) != 0)
      throw std::runtime_error(
          fmt::format("corrupt: permute: row {} is not that of token {}", row, source[row]));
  }
}

void check_moe_unpermute(const PermuteShape& shape, std::span<const std::int64_t> tokens,
                         const Operand& x, const Operand& rows, const Operand& weights,
                         const Operand& y) {
  require_written(y);
  for (const std::int64_t token : tokens)
    for (std::int64_t c = 0; c < shape.hidden; ++c) {
      double sum = 0, magnitude = 0;
      for (std::int64_t i = token * shape.top; i < (token + 1) * shape.top; ++i) {
        const double term = weights.at(i) * x.at(rows.i32()[i] * shape.hidden + c);
        sum += term;
        magnitude += std::abs(term);
      }
      const std::int64_t at = token * shape.hidden + c;
      require_close("unpermute", at, y.at(at), sum,
                    sum_roundoff(shape.top) * magnitude +
                        store_roundoff(shape.type) * std::abs(sum) + store_floor(shape.type));
    }
}

}  // namespace warpmeter
