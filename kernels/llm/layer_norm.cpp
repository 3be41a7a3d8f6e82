// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/layer_norm.h"

#include <cmath>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

void check_row(const RowsShape& shape, std::int64_t begin, const LayerNormOperands& operands) {
  const auto columns = static_cast<double>(shape.columns);
  double sum = 0, sizes = 0, squares = 0;
  for (std::int64_t c = 0; c < shape.columns; ++c) {
    sum += operands.x.at(begin + c);
    sizes += std::abs(operands.x.at(begin + c));
  }
  const double mean = sum / columns, unit = unit_roundoff(Element::f32);
  for (std::int64_t c = 0; c < shape.columns; ++c)
    squares += std::pow(operands.x.at(begin + c) - mean, 2);
  const double scale = 1 / std::sqrt(squares / columns + double{layer_norm_epsilon});
  const double off_mean = sum_roundoff(shape.columns) * sizes / columns;
  for (std::int64_t c = 0; c < shape.columns; ++c) {
    const double gain = operands.gain.at(c), bias = operands.bias.at(c);
    const double product = (operands.x.at(begin + c) - mean) * scale * gain;
    const double tolerance =
        std::abs(gain) * scale * off_mean +
        std::abs(product) * (sum_roundoff(shape.columns) + 8 * unit) + unit * std::abs(bias) +
        store_roundoff(shape.type) * std::abs(product + bias) + store_floor(shape.type);
    require_close("layer_norm", begin + c, operands.y.at(begin + c), product + bias, tolerance);
  }
}

}  // namespace

Work layer_norm_work(const RowsShape& shape) {
  const auto rows = static_cast<double>(shape.rows), columns = static_cast<double>(shape.columns);
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops["f32"] = rows * (7 * columns + 4);
  work.bytes_read = (rows * columns + 2 * columns) * e;
  work.bytes_written = rows * columns * e;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

void check_layer_norm(const RowsShape& shape, std::span<const std::int64_t> rows,
                      const LayerNormOperands& operands) {
  require_written(operands.y);
  for (const std::int64_t row : rows) check_row(shape, row * shape.columns, operands);
}

}  // namespace warpmeter
