// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace warpmeter {

// Scalar references of the multiply-add kernels.

// x = x * factor + addend, `steps` times.
inline double fma_reference(double x, double factor, double addend, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) x = x * factor + addend;
  return x;
}

// bfloat16 is the upper half of an IEEE single.
inline std::uint16_t bf16_bits(double value) {  // rounds towards zero
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}
inline double bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// x + steps * sum of left * right over `depth` pairs: bf16 bit patterns.
inline double dot_reference(double x, const std::uint16_t* left, const std::uint16_t* right,
                            std::size_t depth, std::size_t steps) {
  double sum = 0;
  for (std::size_t i = 0; i < depth; ++i) sum += bf16_value(left[i]) * bf16_value(right[i]);
  return x + static_cast<double>(steps) * sum;
}

// The same for bytes, modulo 2^32.
inline std::int32_t dot_reference(std::int32_t x, const std::uint8_t* left,
                                  const std::int8_t* right, std::size_t depth, std::size_t steps) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < depth; ++i) sum += left[i] * right[i];
  return static_cast<std::int32_t>(
      static_cast<std::uint32_t>(x + static_cast<std::int64_t>(steps) * sum));
}

}  // namespace warpmeter
