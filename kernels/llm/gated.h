// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>

#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// Gated units (Shazeer, arXiv:2002.05202): y = activation(gate) up, [rows, columns]. Row r of gate
// and up begins at r stride and r stride + up_offset: two matrices, or both in the packed result
// [rows, 2 columns] of one product, gate first.
struct GatedInput {
  const Operand &gate, &up;
  std::int64_t stride, up_offset;
};
inline GatedInput separate(const RowsShape& shape, const Operand& gate, const Operand& up) {
  return {gate, up, shape.columns, 0};
}
inline GatedInput packed(const RowsShape& shape, const Operand& gate_up) {
  return {gate_up, gate_up, 2 * shape.columns, shape.columns};
}

// An activation in double precision, and the relative error that a kernel's may have.
struct GateValue {
  double value, relative;
};

// Throws std::runtime_error("corrupt: ...") unless `rows` of y are right and all of it is written.
void check_gated(const char* name, GateValue (*activation)(double gate), const RowsShape& shape,
                 std::span<const std::int64_t> rows, const GatedInput& input, const Operand& y);

}  // namespace warpmeter
