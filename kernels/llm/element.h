// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpmeter {

// The numeric types of kernel operands. e4m3: 8-bit floats of Micikevicius et al.
// (arXiv:2209.05433), no infinity, largest number 448. i32 holds indices; u8 bytes that a kernel
// packs by its own rule.
enum class Element { f32, bf16, f16, e4m3, int8, i32, u8 };

// The enumerators' names: the value of the parameter `type` and the key in Work::ops.
std::string to_string(Element type);
// Throws InputError on a text that is no type of arithmetic (f32, bf16, f16, e4m3, int8).
Element parse_element(std::string_view text);

constexpr std::size_t bytes_of(Element type) {
  switch (type) {
    case Element::bf16:
    case Element::f16:
      return 2;
    case Element::e4m3:
    case Element::int8:
    case Element::u8:
      return 1;
    default:
      return 4;
  }
}

// Largest relative error of rounding to nearest: half a unit in the last place. bf16 keeps 8
// significant bits, f16 11, e4m3 4 (normal numbers, from 2^-6 on).
constexpr double unit_roundoff(Element type) {
  if (type == Element::e4m3) return 0x1p-4;
  if (type == Element::bf16) return 0x1p-8;
  return type == Element::f16 ? 0x1p-11 : 0x1p-24;
}

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Subnormal numbers included. To f16: to nearest, ties to even, for all but NaN.
float f16_to_float(std::uint16_t bits);
std::uint16_t float_to_f16(float value);

// To e4m3: to nearest, ties to even, beyond 448 to 448 (as cvt.rn.satfinite does); NaN stays NaN.
float e4m3_to_float(std::uint8_t bits);
std::uint8_t float_to_e4m3(float value);

// Round to nearest, ties to even, as VCVTNEPS2BF16 does for normal numbers. Not for NaN.
inline std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace warpmeter
