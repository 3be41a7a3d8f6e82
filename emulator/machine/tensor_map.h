// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace emulator {

enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz
};  // in the order of CUtensorMapDataType
std::uint32_t bytes_of(TensorType type);

// What the 128 bytes of a tensor map hold; only this GPU packs them so. Dimension 0 is the
// innermost one.
struct alignas(64) TensorMap {
  static constexpr std::uint64_t valid = 0x70616d726f736e74;
  std::uint64_t magic = 0;
  std::uint64_t address = 0;
  std::array<std::uint64_t, 4> strides{};  // B, of dimensions 1 to 4
  std::array<std::uint64_t, 5> sizes{};    // elements
  std::array<std::uint16_t, 5> box{};      // elements that the box spans
  std::array<std::uint8_t, 5> steps{};     // of which it takes every n-th
  TensorType type = TensorType::u8;
  std::uint8_t rank = 0;
  std::uint8_t swizzle_bytes = 0;  // 0, 32, 64 or 128
  bool fills_with_nan = false;
  std::array<std::byte, 19> unused{};
};
static_assert(sizeof(TensorMap) == 128 && std::is_trivially_copyable_v<TensorMap>);

// A box at some coordinates, row by row. A row is `row_bytes` of shared memory, of which a part
// lies inside the tensor.
struct TensorBox {
  struct Row {
    std::uint64_t global = 0;  // address of the first byte inside
    std::uint32_t begin = 0;   // its place in the row
    std::uint32_t bytes = 0;   // inside; 0: the whole row is outside
  };
  std::vector<Row> rows;
  std::uint32_t row_bytes = 0;
  std::uint32_t pitch = 0;  // from row to row in shared memory
  std::uint64_t bytes() const { return rows.size() * row_bytes; }
};
TensorBox box_at(const TensorMap& map, const std::array<std::int32_t, 5>& coordinates);

// Where the byte at an offset of shared memory lies when 16-byte chunks are swizzled over
// `span` bytes (0: not at all): the bits above 128 B are added to the chunk's number without carry.
inline std::uint64_t swizzled(std::uint64_t offset, std::uint32_t span) {
  return span == 0 ? offset : offset ^ (offset >> 7 & (span / 16 - 1)) << 4;
}

// The rows of a box as they arrive: zeros (or NaN) outside, converted as the type says.
std::vector<std::byte> gather(const TensorMap& map, const TensorBox& box);

}  // namespace emulator
