// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace emulator {

enum class Rounding : std::uint8_t { nearest, zero, down, up, away };

// A small floating-point format. Its largest exponent is that of infinity and NaN, except in e4m3,
// where only the all-ones pattern is NaN, and in 6 and 4 bits, where there is none.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
  bool has_nan = true;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
inline constexpr Format format_f16{5, 10, true};
inline constexpr Format format_bf16{8, 7, true};
inline constexpr Format format_tf32{8, 10, true};
inline constexpr Format format_f32{8, 23, true};
inline constexpr Format format_e4m3{4, 3, false};
inline constexpr Format format_e5m2{5, 2, true};
inline constexpr Format format_e3m2{3, 2, false, false};
inline constexpr Format format_e2m3{2, 3, false, false};
inline constexpr Format format_e2m1{2, 1, false, false};

// `sticky` says that the exact value lies a little beyond x, away from zero by less than the
// last place of a double. Overflow gives infinity as the rounding asks, or the largest value if
// `saturate`. NaN gives the canonical NaN, or the largest value if there is none.
template <Format f>
std::uint32_t encode(double x, Rounding rounding = Rounding::nearest, bool saturate = false) {
  constexpr int sign_at = f.exponent_bits + f.mantissa_bits;
  constexpr std::uint32_t exponent_ones = (1u << f.exponent_bits) - 1;
  constexpr std::uint32_t infinity = exponent_ones << f.mantissa_bits;
  constexpr std::uint32_t nan = (1u << sign_at) - 1;
  constexpr std::uint32_t largest = f.has_infinity ? infinity - 1 : f.has_nan ? nan - 1 : nan;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto sign = static_cast<std::uint32_t>(bits >> 63);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff && mantissa != 0) return nan;
  const std::uint32_t signed_zero = sign << sign_at;
  const std::uint32_t overflow = f.has_infinity && !saturate ? infinity : saturate ? largest : nan;
  if (exponent == 0x7ff) return signed_zero | overflow;
  if (exponent == 0 && mantissa == 0) return signed_zero;
  if (exponent == 0) {  // a double's subnormal is below every format's smallest value
    mantissa = 1;
  } else {
    mantissa |= std::uint64_t{1} << 52;
  }
  int target = exponent - 1023 + f.bias();
  int drop = 52 - f.mantissa_bits;
  if (target < 1) {
    drop += 1 - target;
    target = 0;
  }
  if (drop > 63) {
    drop = 63;  // all that is left is "more than zero"
    mantissa = 1;
  }
  std::uint64_t kept = mantissa >> drop;
  const std::uint64_t rest = mantissa & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  bool up = false;
  switch (rounding) {
    case Rounding::nearest:
      up = rest > half || (rest == half && (kept & 1) != 0);
      break;
    case Rounding::away:
      up = rest >= half;
      break;
    case Rounding::zero:
      break;
    case Rounding::down:
      up = rest != 0 && sign != 0;
      break;
    case Rounding::up:
      up = rest != 0 && sign == 0;
      break;
  }
  kept += up ? 1 : 0;
  // A carry out of the mantissa raises the exponent by itself.
  const std::uint64_t magnitude =
      target == 0 ? kept : (static_cast<std::uint64_t>(target - 1) << f.mantissa_bits) + kept;
  if (magnitude > largest) {
    const bool stays = rounding == Rounding::zero || (rounding == Rounding::down && sign == 0) ||
                       (rounding == Rounding::up && sign != 0);
    return signed_zero | (stays ? largest : overflow);
  }
  return signed_zero | static_cast<std::uint32_t>(magnitude);
}

template <Format f>
double decode(std::uint32_t bits) {
  constexpr int sign_at = f.exponent_bits + f.mantissa_bits;
  constexpr std::uint32_t exponent_ones = (1u << f.exponent_bits) - 1;
  const double sign = bits >> sign_at & 1 ? -1.0 : 1.0;
  const std::uint32_t exponent = bits >> f.mantissa_bits & exponent_ones;
  const std::uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  if (f.has_infinity && exponent == exponent_ones) {
    return mantissa == 0 ? sign * INFINITY : std::copysign(NAN, sign);
  }
  if (!f.has_infinity && f.has_nan && (bits & ((1u << sign_at) - 1)) == (1u << sign_at) - 1)
    return NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - f.bias() - f.mantissa_bits);
  return sign * std::ldexp((1u << f.mantissa_bits) + mantissa,
                           static_cast<int>(exponent) - f.bias() - f.mantissa_bits);
}

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
inline float f16_to_float(std::uint16_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}
inline std::uint16_t float_to_f16(float x) {
  if (std::isnan(x)) return 0x7fff;
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(x));
}
inline std::uint16_t float_to_bf16(float x) {
  return static_cast<std::uint16_t>(encode<format_bf16>(static_cast<double>(x)));
}

// a * b + c for products that a double holds exactly, rounded to odd: rounding it once more to a
// format of at most 24 bits gives the correctly rounded result.
inline double fma_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (c - back);
  if (error == 0) return sum;
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if ((bits & 1) == 0) {
    // Step to the neighbour on the side of the error.
    const bool grow = (error > 0) == (sum > 0);
    bits = grow ? bits + 1 : bits - 1;
  }
  return std::bit_cast<double>(bits);
}

}  // namespace emulator
