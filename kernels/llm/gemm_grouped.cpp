// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/gemm_grouped.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "kernels/llm/check.h"

namespace warpmeter {

std::vector<std::int64_t> draw_rows(const GroupedGemmShape& shape, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::size_t> experts(static_cast<std::size_t>(shape.experts));
  std::iota(experts.begin(), experts.end(), std::size_t{0});
  std::shuffle(experts.begin(), experts.end(), random);
  experts.resize(static_cast<std::size_t>(shape.active));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(shape.experts));
  for (const std::size_t expert : experts) rows[expert] = 1;
  std::uniform_int_distribution<std::size_t> any(0, experts.size() - 1);
  for (std::int64_t r = shape.active; r < shape.rows; ++r) ++rows[experts[any(random)]];
  return rows;
}

void fill_grouped_gemm(const GroupedGemmShape& shape, std::span<const std::int64_t> rows_of_expert,
                       std::uint32_t seed, const GroupedGemm& p) {
  fill_activations(p.activations, shape.k, seed);
  const double deviation = 1 / std::sqrt(static_cast<double>(shape.k));
  const std::int64_t per_expert = shape.n * shape.k;
  std::int64_t row = 0;
  for (std::int64_t expert = 0; expert < shape.experts; ++expert) {
    p.offsets.i32()[expert] = static_cast<std::int32_t>(row);
    const std::int64_t rows = rows_of_expert[static_cast<std::size_t>(expert)];
    if (rows > 0) fill_normal_part(p.weights, expert * per_expert, per_expert, seed + 1, deviation);
    row += rows;
  }
  p.offsets.i32()[shape.experts] = static_cast<std::int32_t>(row);
}

GroupedGemmReference::GroupedGemmReference(const GroupedGemmShape& shape, const GroupedGemm& p,
                                           std::uint32_t seed) {
  const bool all = shape.rows * shape.n * shape.k <= 1 << 20;
  rows = sampled(shape.rows, all ? shape.rows : 8, seed);
  columns = sampled(shape.n, all ? shape.n : 64, seed + 1);
  const std::int32_t* offsets = p.offsets.i32();
  for (const std::int64_t row : rows) {
    // The last expert that begins at or before the row.
    const std::int64_t expert =
        std::upper_bound(offsets, offsets + shape.experts + 1, row) - offsets - 1;
    for (const std::int64_t column : columns) {
      const std::int64_t weights = (expert * shape.n + column) * shape.k;
      double sum = 0, magnitude = 0;
      for (std::int64_t k = 0; k < shape.k; ++k) {
        const double product = p.activations.at(row * shape.k + k) * p.weights.at(weights + k);
        sum += product;
        magnitude += std::abs(product);
      }
      sums.push_back(sum);
      magnitudes.push_back(magnitude);
    }
  }
}

Work grouped_gemm_work(const GroupedGemmShape& shape) {
  const auto rows = static_cast<double>(shape.rows), n = static_cast<double>(shape.n),
             k = static_cast<double>(shape.k);
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops[to_string(shape.type)] = 2 * rows * n * k;
  work.bytes_read = (rows * k + static_cast<double>(shape.active) * n * k) * e +
                    4 * static_cast<double>(shape.experts + 1);
  work.bytes_written = rows * n * e;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

}  // namespace warpmeter
