// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/rms_norm_backward.h"

#include <algorithm>
#include <cmath>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

std::vector<double> row_of(const Operand& operand, std::int64_t row, std::int64_t columns) {
  std::vector<double> values;
  for (std::int64_t c = 0; c < columns; ++c) values.push_back(operand.at(row * columns + c));
  return values;
}

double relative_error(const RowsShape& shape) {
  return 2 * sum_roundoff(shape.columns) + 8 * unit_roundoff(Element::f32);
}

void check_dx(const RowsShape& shape, std::int64_t row, const RmsNormGradients& operands,
              const RmsNormRow& expected) {
  const double factor = std::pow(expected.scale, 3) * expected.magnitude;
  for (std::int64_t c = 0; c < shape.columns; ++c) {
    const std::int64_t at = row * shape.columns + c;
    const double direct = expected.scale * operands.gain.at(c) * operands.dy.at(at);
    const double through_scale = factor * operands.x.at(at) / static_cast<double>(shape.columns);
    const double right = expected.dx[static_cast<std::size_t>(c)];
    require_close("dx", at, operands.dx.at(at), right,
                  relative_error(shape) * (std::abs(direct) + std::abs(through_scale)) +
                      store_roundoff(shape.type) * std::abs(right) + store_floor(shape.type));
  }
}

}  // namespace

Work rms_norm_backward_work(const RowsShape& shape) {
  const auto rows = static_cast<double>(shape.rows), columns = static_cast<double>(shape.columns);
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops["f32"] = rows * (11 * columns + 8);
  work.bytes_read = (2 * rows * columns + columns) * e;
  work.bytes_written = rows * columns * e + 4 * columns;
  work.working_set = work.bytes_read + work.bytes_written +
                     4 * columns * static_cast<double>(rms_norm_backward_blocks(shape));
  work.launches = 2;
  return work;
}

RmsNormRow rms_norm_gradients(std::span<const double> x, std::span<const double> gain,
                              std::span<const double> dy) {
  const auto columns = static_cast<double>(x.size());
  double squares = 0, sum = 0;
  RmsNormRow row;
  for (std::size_t c = 0; c < x.size(); ++c) {
    squares += x[c] * x[c];
    sum += gain[c] * dy[c] * x[c];
    row.magnitude += std::abs(gain[c] * dy[c] * x[c]);
  }
  row.scale = 1 / std::sqrt(squares / columns + double{rms_epsilon});
  const double factor = std::pow(row.scale, 3) * sum / columns;
  for (std::size_t c = 0; c < x.size(); ++c) {
    row.dx.push_back(row.scale * gain[c] * dy[c] - factor * x[c]);
    row.dgain.push_back(dy[c] * x[c] * row.scale);
  }
  return row;
}

void check_rms_norm_backward(const RowsShape& shape, std::span<const std::int64_t> rows,
                             const RmsNormGradients& operands) {
  require_written(operands.dx);
  const auto columns = static_cast<std::size_t>(shape.columns);
  const std::vector<double> gain = row_of(operands.gain, 0, shape.columns);
  std::vector<double> dgain(columns), magnitude(columns);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const RmsNormRow expected = rms_norm_gradients(row_of(operands.x, row, shape.columns), gain,
                                                   row_of(operands.dy, row, shape.columns));
    if (std::ranges::binary_search(rows, row)) check_dx(shape, row, operands, expected);
    for (std::size_t c = 0; c < columns; ++c) {
      dgain[c] += expected.dgain[c];
      magnitude[c] += std::abs(expected.dgain[c]);
    }
  }
  const double relative = sum_roundoff(shape.rows) + relative_error(shape);
  for (std::int64_t c = 0; c < shape.columns; ++c)
    require_close("dgain", c, operands.dgain.at(c), dgain[static_cast<std::size_t>(c)],
                  relative * magnitude[static_cast<std::size_t>(c)]);
}

}  // namespace warpmeter
