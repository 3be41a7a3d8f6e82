// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/tensor_map.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "emulator/decode/formats.h"

namespace emulator {
namespace {

// Canonical NaN of the types that have one.
std::uint64_t nan_of(TensorType type) {
  switch (type) {
    case TensorType::f64:
      return 0x7fffffffffffffff;
    case TensorType::f16:
    case TensorType::bf16:
      return 0x7fff;
    default:
      return 0x7fffffff;
  }
}

void convert_on_arrival(TensorType type, std::vector<std::byte>& data) {
  const bool flushes = type == TensorType::f32_ftz || type == TensorType::tf32_ftz;
  const bool rounds = type == TensorType::tf32 || type == TensorType::tf32_ftz;
  if (!flushes && !rounds) return;
  for (std::size_t at = 0; at < data.size(); at += 4) {
    float x;
    std::memcpy(&x, &data[at], sizeof x);
    if (flushes && std::fpclassify(x) == FP_SUBNORMAL) x = std::copysign(0.0f, x);
    if (rounds && !std::isnan(x)) {
      x = std::bit_cast<float>(encode<format_tf32>(static_cast<double>(x)) << 13);
    }
    std::memcpy(&data[at], &x, sizeof x);
  }
}

}  // namespace

std::uint32_t bytes_of(TensorType type) {
  static constexpr std::uint32_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return bytes[static_cast<std::size_t>(type)];
}

TensorBox box_at(const TensorMap& map, const std::array<std::int32_t, 5>& coordinates) {
  const std::uint32_t element = bytes_of(map.type);
  TensorBox box;
  box.row_bytes = map.box[0] * element;
  // Shared memory holds whole spans of the swizzle.
  box.pitch = std::max<std::uint32_t>(box.row_bytes, map.swizzle_bytes);
  std::array<std::uint32_t, 5> counts{1, 1, 1, 1, 1};
  std::size_t rows = 1;
  for (std::size_t d = 1; d < map.rank; ++d) {
    counts[d] = (map.box[d] + map.steps[d] - 1u) / map.steps[d];
    rows *= counts[d];
  }
  const std::int64_t size = static_cast<std::int64_t>(map.sizes[0]);
  const std::int64_t first = std::max<std::int64_t>(coordinates[0], 0);
  const std::int64_t end = std::min<std::int64_t>(coordinates[0] + std::int64_t{map.box[0]}, size);
  for (std::size_t row = 0; row < rows; ++row) {
    TensorBox::Row& out = box.rows.emplace_back();
    bool inside = first < end;
    std::uint64_t address = map.address + static_cast<std::uint64_t>(first) * element;
    std::size_t rest = row;
    for (std::size_t d = 1; d < map.rank; ++d) {
      const std::int64_t at =
          coordinates[d] + static_cast<std::int64_t>(rest % counts[d]) * map.steps[d];
      rest /= counts[d];
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(map.sizes[d]);
      address += static_cast<std::uint64_t>(at) * map.strides[d - 1];
    }
    if (!inside) continue;
    out.global = address;
    out.begin = static_cast<std::uint32_t>(first - coordinates[0]) * element;
    out.bytes = static_cast<std::uint32_t>(end - first) * element;
  }
  return box;
}

std::vector<std::byte> gather(const TensorMap& map, const TensorBox& box) {
  std::vector<std::byte> data(box.bytes());
  const std::uint32_t element = bytes_of(map.type);
  if (map.fills_with_nan) {
    const std::uint64_t nan = nan_of(map.type);
    for (std::size_t at = 0; at < data.size(); at += element) {
      std::memcpy(&data[at], &nan, element);
    }
  }
  for (std::size_t r = 0; r < box.rows.size(); ++r) {
    const TensorBox::Row& row = box.rows[r];
    if (row.bytes == 0) continue;
    std::memcpy(&data[r * box.row_bytes + row.begin],
                reinterpret_cast<const std::byte*>(row.global), row.bytes);
  }
  convert_on_arrival(map.type, data);
  return data;
}

}  // namespace emulator
