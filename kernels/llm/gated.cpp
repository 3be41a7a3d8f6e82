// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/gated.h"

#include <cmath>

#include "kernels/llm/check.h"

namespace warpmeter {

void check_gated(const char* name, GateValue (*activation)(double gate), const RowsShape& shape,
                 std::span<const std::int64_t> rows, const GatedInput& input, const Operand& y) {
  require_written(y);
  for (const std::int64_t row : rows)
    for (std::int64_t c = 0; c < shape.columns; ++c) {
      const std::int64_t from = row * input.stride + c, to = row * shape.columns + c;
      const GateValue gate = activation(input.gate.at(from));
      const double expected = gate.value * input.up.at(from + input.up_offset);
      const double relative = gate.relative + store_roundoff(shape.type);
      require_close(name, to, y.at(to), expected,
                    relative * std::abs(expected) + store_floor(shape.type));
    }
}

}  // namespace warpmeter
