// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

void check_ignored(const RowsShape& shape, std::int64_t row, const CrossEntropyOperands& operands) {
  require_close("loss", row, operands.loss.at(row), 0, 0);
  for (std::int64_t at = row * shape.columns; at < (row + 1) * shape.columns; ++at)
    require_close("gradient", at, operands.gradient.at(at), 0, 0);
}

void check_row(const RowsShape& shape, std::int64_t row, std::int64_t target,
               const CrossEntropyOperands& operands) {
  const std::int64_t begin = row * shape.columns;
  std::vector<double> logits;
  for (std::int64_t c = 0; c < shape.columns; ++c) logits.push_back(operands.logits.at(begin + c));
  const CrossEntropyRow expected = cross_entropy_row(logits, target);
  const double sum = exp_error + sum_roundoff(shape.columns), u = unit_roundoff(Element::f32);
  const double scale = double{cross_entropy_scale(shape)};
  const double terms = std::abs(expected.top) + std::abs(operands.logits.at(begin + target)) +
                       std::log(static_cast<double>(shape.columns));
  require_close("loss", row, operands.loss.at(row), expected.loss, sum + 4 * u * terms);
  for (std::int64_t c = 0; c < shape.columns; ++c) {
    const double right = expected.gradient[static_cast<std::size_t>(c)] * scale;
    const double probability = right + (c == target ? scale : 0);
    require_close("gradient", begin + c, operands.gradient.at(begin + c), right,
                  sum * probability + (c == target ? 2 * u * scale : 0) +
                      store_roundoff(shape.type) * std::abs(right) + store_floor(shape.type));
  }
}

}  // namespace

Work cross_entropy_work(const RowsShape& shape) {
  const auto rows = static_cast<double>(shape.rows), columns = static_cast<double>(shape.columns);
  Work work;
  work.ops["f32"] = rows * (4 * columns + 3);
  work.ops["exp"] = rows * columns;
  work.bytes_read = work.bytes_written =
      rows * columns * static_cast<double>(bytes_of(shape.type)) + 4 * rows;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

CrossEntropyRow cross_entropy_row(std::span<const double> logits, std::int64_t target) {
  CrossEntropyRow row;
  row.top = std::ranges::max(logits);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - row.top);
  for (const double logit : logits) row.gradient.push_back(std::exp(logit - row.top) / sum);
  row.gradient[static_cast<std::size_t>(target)] -= 1;
  row.loss = std::log(sum) + row.top - logits[static_cast<std::size_t>(target)];
  return row;
}

void check_cross_entropy(const RowsShape& shape, std::span<const std::int64_t> rows,
                         const CrossEntropyOperands& operands) {
  require_written(operands.loss);
  require_written(operands.gradient);
  for (const std::int64_t row : rows) {
    const std::int32_t target = operands.targets.i32()[row];
    if (target == ignored_target)
      check_ignored(shape, row, operands);
    else
      check_row(shape, row, target, operands);
  }
}

}  // namespace warpmeter
