// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/rope.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

void check_head(const RopeShape& shape, std::int64_t begin, std::int64_t table,
                const RopeOperands& operands) {
  const std::int64_t half = shape.head_size / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const double x1 = operands.x.at(begin + i), x2 = operands.x.at(begin + half + i);
    const double c = operands.cosines.at(table + i), s = operands.sines.at(table + i);
    const double tolerance = (4 * unit_roundoff(Element::f32) + store_roundoff(shape.type)) *
                                 (std::abs(x1) + std::abs(x2)) +
                             store_floor(shape.type);
    require_close("rope", begin + i, operands.y.at(begin + i), x1 * c - x2 * s, tolerance);
    require_close("rope", begin + half + i, operands.y.at(begin + half + i), x2 * c + x1 * s,
                  tolerance);
  }
}

}  // namespace

Work rope_work(const RopeShape& shape) {
  const auto tokens = static_cast<double>(shape.tokens);
  const auto size = static_cast<double>(shape.head_size);
  const double elements = tokens * static_cast<double>(shape.heads) * size;
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops["f32"] = 3 * elements;
  work.bytes_read = elements * e + 4 * tokens + 4 * tokens * size;
  work.bytes_written = elements * e;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

RotaryTables rotary_tables(std::int64_t positions, std::int64_t head_size) {
  const std::int64_t half = head_size / 2;
  RotaryTables tables;
  tables.cosines.resize(static_cast<std::size_t>(positions * half));
  tables.sines.resize(tables.cosines.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t at = 0; at < positions * half; ++at) {
    const auto position = static_cast<double>(at / half), i = static_cast<double>(at % half);
    const double angle = position * std::pow(500000.0, -2 * i / static_cast<double>(head_size));
    tables.cosines[static_cast<std::size_t>(at)] = static_cast<float>(std::cos(angle));
    tables.sines[static_cast<std::size_t>(at)] = static_cast<float>(std::sin(angle));
  }
  return tables;
}

void fill_rope(const RopeShape& shape, std::uint32_t seed, const Operand& positions,
               const Operand& cosines, const Operand& sines) {
  const std::int64_t rows = rope_positions(shape);
  std::int64_t step = 1237;  // a step without a common divisor meets each position once
  while (std::gcd(step, rows) != 1) ++step;
  for (std::int64_t t = 0; t < shape.tokens; ++t)
    positions.i32()[t] = static_cast<std::int32_t>((seed + step * t) % rows);
  const RotaryTables tables = rotary_tables(rows, shape.head_size);
  std::copy(tables.cosines.begin(), tables.cosines.end(), cosines.f32());
  std::copy(tables.sines.begin(), tables.sines.end(), sines.f32());
}

void check_rope(const RopeShape& shape, std::span<const std::int64_t> tokens,
                const RopeOperands& operands) {
  if (token_stride(shape) == shape.heads * shape.head_size) require_written(operands.y);
  for (const std::int64_t token : tokens)
    for (std::int64_t head = 0; head < shape.heads; ++head)
      check_head(shape, token * token_stride(shape) + head * shape.head_size,
                 operands.positions.i32()[token] * (shape.head_size / 2), operands);
}

void check_rope_in_place(const RopeShape& shape, std::span<const std::int64_t> tokens,
                         const RopeOperands& operands) {
  check_rope(shape, tokens, operands);
  for (const std::int64_t token : tokens)
    for (std::int64_t i = shape.heads * shape.head_size; i < token_stride(shape); ++i) {
      const std::int64_t at = token * token_stride(shape) + i;
      require_close("rope: unrotated", at, operands.y.at(at), operands.x.at(at), 0);
    }
}

}  // namespace warpmeter
