// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/residual.h"

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

// The number nearest to `value` that the type holds.
double rounded(Element type, float value) {
  if (type == Element::bf16) return bf16_to_float(float_to_bf16(value));
  return type == Element::f16 ? f16_to_float(float_to_f16(value)) : value;
}

}  // namespace

Work with_residual(Work norm, const RowsShape& shape) {
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
  const double bytes = elements * static_cast<double>(bytes_of(shape.type));
  norm.ops["f32"] += elements;
  norm.bytes_read += bytes;
  norm.bytes_written += bytes;
  norm.working_set += 2 * bytes;
  return norm;
}

void check_residual(const RowsShape& shape, std::span<const std::int64_t> rows, const Operand& x,
                    const Operand& residual, const Operand& h) {
  require_written(h);
  for (const std::int64_t row : rows)
    for (std::int64_t i = row * shape.columns; i < (row + 1) * shape.columns; ++i) {
      const float sum = static_cast<float>(x.at(i)) + static_cast<float>(residual.at(i));
      require_close("residual", i, h.at(i), rounded(shape.type, sum), 0);
    }
}

}  // namespace warpmeter
