// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/geglu.h"

#include <cmath>
#include <numbers>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

double inner(double x) { return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3)); }

GateValue gelu(double x) {
  return {gelu_tanh(x), exp_error + 4 * unit_roundoff(Element::f32) * std::abs(2 * inner(x))};
}

}  // namespace

double gelu_tanh(double x) { return 0.5 * x * std::exp(inner(x)) / std::cosh(inner(x)); }

void check_geglu(const RowsShape& shape, std::span<const std::int64_t> rows,
                 const GatedInput& input, const Operand& y) {
  check_gated("geglu", gelu, shape, rows, input, y);
}

Work geglu_work(const RowsShape& shape) {
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops["f32"] = 7 * elements;
  work.ops["exp"] = elements;
  work.bytes_read = 2 * elements * e;
  work.bytes_written = elements * e;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

}  // namespace warpmeter
