// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

// One product of a warpgroup and how its operands lie in memory, as the PTX ISA's tables of
// canonical layouts have it.
struct WgmmaCase {
  std::string d = "f32";
  std::string a = "f16";
  std::string b = "f16";
  std::size_t n = 8;
  bool a_in_registers = false;
  std::size_t a_span = 128;  // bytes of the swizzle; 0: none
  std::size_t b_span = 128;
  bool a_transposed = false;
  bool b_transposed = false;
  int a_sign = 1;
  int b_sign = 1;
  bool keeps = true;
  bool saturates = false;
  std::size_t begin = 0;  // of A and its swizzle, in lines of 128 B

  static std::size_t bits_of(const std::string& type) {
    return type == "tf32" ? 32 : type == "f16" || type == "bf16" ? 16 : 8;
  }
  std::size_t depth() const { return 256 / bits_of(a); }
  std::size_t registers() const { return d == "f16" ? n / 4 : n / 2; }
};

// Small integers, which all types hold exactly; of fp8 by hand: 0, 1, 2, 3.
inline std::uint32_t encode_element(const std::string& type, int value) {
  static constexpr std::uint32_t e4m3[] = {0, 0x38, 0x40, 0x44};
  static constexpr std::uint32_t e5m2[] = {0, 0x3c, 0x40, 0x42};
  const float f = static_cast<float>(value);
  if (type == "tf32") return std::bit_cast<std::uint32_t>(f);
  if (type == "bf16") return std::bit_cast<std::uint32_t>(f) >> 16;
  if (type == "f16") return std::bit_cast<std::uint16_t>(static_cast<_Float16>(f));
  if (type == "e4m3" || type == "e5m2") {
    return (value < 0 ? 0x80u : 0u) | (type == "e4m3" ? e4m3 : e5m2)[std::abs(value)];
  }
  return static_cast<std::uint8_t>(value);
}

// Where a matrix of `rows` rows (of A, or columns of B) of 32 B lies from its begin on.
struct WgmmaLayout {
  std::size_t rows;
  std::size_t bytes;  // of an element
  std::size_t span;
  bool transposed;
  std::size_t step = 0;  // which 32 B of a swizzled row this is
  std::size_t leading = 0;
  std::size_t stride = 0;

  void choose_strides() {
    if (span == 0) {  // core matrices of 128 B, with room between them
      leading = transposed ? 128 : 128 * ((rows + 7) / 8) + 256;
      stride = transposed ? 384 : 128;
    } else if (!transposed) {
      stride = 8 * span;
    } else {
      stride = 8 * span;
      leading = stride * (32 / bytes / 8) + 1024;
    }
  }
  std::size_t place(std::size_t row, std::size_t k) const {
    if (!transposed) {
      const std::size_t byte = k * bytes;
      if (span == 0) {
        return row / 8 * stride + byte / 16 * leading + row % 8 * 16 + byte % 16;
      }
      return swizzle(row / 8 * stride + row % 8 * span + 32 * step + byte);
    }
    if (span == 0) return row / 8 * stride + k / 8 * leading + k % 8 * 16 + row % 8 * bytes;
    const std::size_t across = span / bytes;
    return swizzle(row / across * leading + k / 8 * stride + k % 8 * span + row % across * bytes);
  }
  // In a line of 128 B, chunk c of 16 B goes to c ^ line within groups of span / 16 chunks.
  std::size_t swizzle(std::size_t at) const {
    const std::size_t line = at / 128, chunk = at / 16 % 8, group = span / 16;
    return line * 128 + (chunk / group * group + ((chunk ^ line) % group)) * 16 + at % 16;
  }
  std::uint64_t descriptor(std::size_t start) const {
    const std::uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    const std::uint64_t from = transposed || span == 0 ? start : start + 32 * step;
    return from / 16 | std::uint64_t{start / 128 % 8} << 49 | std::uint64_t{leading / 16} << 16 |
           std::uint64_t{stride / 16} << 32 | mode << 62;
  }
};
