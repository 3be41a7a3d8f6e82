// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/quantize.h"

#include <algorithm>
#include <cmath>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

// Elements [begin, end), whose scale is number `which`.
void check_group(const QuantizeOperands& operands, std::int64_t which, std::int64_t begin,
                 std::int64_t end) {
  float top = 0;
  for (std::int64_t i = begin; i < end; ++i)
    top = std::max(top, std::abs(static_cast<float>(operands.x.at(i))));
  const float scale = top > 0 ? top / 448 : 1;
  require_close("quantize: scale", which, operands.scales.at(which), scale, 0);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::uint8_t expected = float_to_e4m3(static_cast<float>(operands.x.at(i)) / scale);
    require_close("quantize: bits", i, operands.y.u8()[i], expected, 0);
  }
}

}  // namespace

Work quantize_work(const RowsShape& shape, std::int64_t group) {
  const auto rows = static_cast<double>(shape.rows);
  const double elements = rows * static_cast<double>(shape.columns);
  Work work;
  work.ops["f32"] = 2 * elements;
  work.bytes_read = elements * static_cast<double>(bytes_of(shape.type));
  work.bytes_written = elements + 4 * rows * static_cast<double>(groups_per_row(shape, group));
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

void check_quantize(const RowsShape& shape, std::int64_t group, std::span<const std::int64_t> rows,
                    const QuantizeOperands& operands) {
  require_written(operands.y);
  require_written(operands.scales);
  const std::int64_t groups = groups_per_row(shape, group);
  for (const std::int64_t row : rows)
    for (std::int64_t g = 0; g < groups; ++g)
      check_group(operands, row * groups + g, row * shape.columns + g * group,
                  row * shape.columns + std::min((g + 1) * group, shape.columns));
}

}  // namespace warpmeter
