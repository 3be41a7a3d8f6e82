// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace warpmeter {
namespace {

// The tokens of a row in their order, and their weights, the largest of which is 1.
struct Sorted {
  std::vector<std::int64_t> ids;
  std::vector<double> weights;  // of ids[i]
};

Sorted sorted(const SampleShape& shape, const float* logits) {
  Sorted result;
  result.ids.resize(static_cast<std::size_t>(shape.vocabulary));
  std::iota(result.ids.begin(), result.ids.end(), 0);
  std::stable_sort(result.ids.begin(), result.ids.end(),
                   [&](auto a, auto b) { return logits[a] > logits[b]; });
  const double top = logits[result.ids[0]];
  for (const std::int64_t id : result.ids)
    result.weights.push_back(std::exp((double{logits[id]} - top) / shape.temperature));
  return result;
}

// t of the header, over the first `count` tokens.
double tolerance(const Sorted& row, std::size_t count, double total) {
  double error = static_cast<double>(row.ids.size()) * 0x1p-40;
  for (std::size_t i = 0; i < count && row.weights[i] > 0; ++i)
    error += row.weights[i] * (0x1p-23 * std::abs(std::log(row.weights[i])) + 0x1p-22);
  return 2 * error / total + 0x1p-32;
}

bool is_right(const SampleShape& shape, const Sorted& row, double uniform, std::int64_t token) {
  const auto all = row.ids.size();
  const std::size_t most =
      shape.top_k == 0 ? all : std::min(all, static_cast<std::size_t>(shape.top_k));
  const double total = std::accumulate(
      row.weights.begin(), row.weights.begin() + static_cast<std::ptrdiff_t>(most), 0.0);
  const double off = tolerance(row, most, total);
  const auto rank =
      static_cast<std::size_t>(std::find(row.ids.begin(), row.ids.end(), token) - row.ids.begin());
  // One cut after the other: `kept` weights in all, `before` of them with smaller ids.
  double kept = 0, before = 0;
  for (std::size_t n = 1; n <= most; ++n) {
    const double without = kept;
    kept += row.weights[n - 1];
    if (row.ids[n - 1] < token) before += row.weights[n - 1];
    const bool possible = shape.top_p < 1 ? without < (shape.top_p + off) * total &&
                                                kept >= (shape.top_p - off) * total
                                          : n == most;
    if (possible && rank < n && before <= (uniform + off) * kept &&
        before + row.weights[rank] >= (uniform - off) * kept)
      return true;
  }
  return false;
}

}  // namespace

Work sample_work(const SampleShape& shape) {
  const auto rows = static_cast<double>(shape.rows);
  const double tokens = rows * static_cast<double>(shape.vocabulary);
  Work work;
  work.ops["f32"] = 4 * tokens;
  work.ops["exp"] = tokens;
  work.bytes_read = 4 * tokens + 4 * rows;
  work.bytes_written = 4 * rows;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

void fill_uniform(const Operand& operand, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < operand.count; ++i)
    operand.f32()[i] = static_cast<float>(random() >> 8) * 0x1p-24f;
}

void check_sample(const SampleShape& shape, std::span<const std::int64_t> rows,
                  const SampleOperands& operands) {
  for (std::int64_t row = 0; row < shape.rows; ++row)
    if (const std::int32_t token = operands.tokens.i32()[row];
        token < 0 || token >= shape.vocabulary)
      throw std::runtime_error(fmt::format("corrupt: sample: row {} has token {}", row, token));
  for (const std::int64_t row : rows) {
    const std::int32_t token = operands.tokens.i32()[row];
    const double uniform = operands.uniforms.at(row);
    const Sorted order = sorted(shape, operands.logits.f32() + row * shape.vocabulary);
    if (is_right(shape, order, uniform, token)) continue;
    throw std::runtime_error(fmt::format("corrupt: sample: row {} has token {}, not that of {:.9g}",
                                         row, token, uniform));
  }
}

}  // namespace warpmeter
