// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpmeter {

// The numeric types of kernel operands; `i32` holds token ids only.
enum class Element { f32, bf16, f16, i32 };

// "f32", "bf16", "f16", "i32": the value of the parameter `type` and the key in Work::ops.
std::string to_string(Element type);
Element parse_element(std::string_view text);  // Throws InputError on any other text.

constexpr std::size_t bytes_of(Element type) {
  return type == Element::bf16 || type == Element::f16 ? 2 : 4;
}

// Largest relative error of rounding to nearest: half a unit in the last place. bf16 keeps 8
// significant bits, f16 11.
constexpr double unit_roundoff(Element type) {
  if (type == Element::bf16) return 0x1p-8;
  return type == Element::f16 ? 0x1p-11 : 0x1p-24;
}

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Subnormal numbers included. To f16: to nearest, ties to even, for all but NaN.
float f16_to_float(std::uint16_t bits);
std::uint16_t float_to_f16(float value);

// Round to nearest, ties to even, as VCVTNEPS2BF16 does for normal numbers. Not for NaN.
inline std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace warpmeter
