// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "emulator/decode/formats.h"

// The values that conversions go through; part of convert.cpp.
namespace emulator {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I64 = std::int64_t;

// Every conversion goes through one of two carriers, which hold all values of the types exactly:
// a 64-bit integer with a sign flag, or a double.
enum class Name : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, tf32, f32, f64 };
struct TypeRow {
  std::string_view text;
  Name name;
};
inline constexpr TypeRow names[] = {{"u8", Name::u8},   {"s8", Name::s8},     {"b8", Name::u8},
                                    {"u16", Name::u16}, {"s16", Name::s16},   {"b16", Name::u16},
                                    {"u32", Name::u32}, {"s32", Name::s32},   {"b32", Name::u32},
                                    {"u64", Name::u64}, {"s64", Name::s64},   {"b64", Name::u64},
                                    {"f16", Name::f16}, {"bf16", Name::bf16}, {"tf32", Name::tf32},
                                    {"f32", Name::f32}, {"f64", Name::f64}};

// Packed in Instr::offset.
struct Conversion {
  Name to;
  Name from;
  Rounding rounding;  // of a float result, or of the integer value of a float
  bool to_integral;   // float to float with .rni and the like
  bool flush;
  bool saturate;
  bool relu;
};
static_assert(sizeof(Conversion) <= sizeof(std::int64_t));

inline bool is_real(Name n) { return n >= Name::f16; }
inline bool is_signed(Name n) {
  return n == Name::s8 || n == Name::s16 || n == Name::s32 || n == Name::s64;
}
inline int bytes_of(Name n) {
  static constexpr int bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 4, 8};
  return bytes[static_cast<int>(n)];
}

inline double integral(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return std::trunc(x);
    case Rounding::down:
      return std::floor(x);
    case Rounding::up:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

inline double load_real(U64 bits, Name from) {
  switch (from) {
    case Name::f16:
      return static_cast<double>(f16_to_float(static_cast<U16>(bits)));
    case Name::bf16:
      return static_cast<double>(bf16_to_float(static_cast<U16>(bits)));
    case Name::f64:
      return std::bit_cast<double>(bits);
    default:
      return static_cast<double>(std::bit_cast<float>(static_cast<U32>(bits)));
  }
}

inline U64 store_real(double x, Name to, Rounding rounding) {
  switch (to) {
    case Name::f16:
      return encode<format_f16>(x, rounding);
    case Name::bf16:
      return encode<format_bf16>(x, rounding);
    case Name::tf32:
      return std::isnan(x) ? 0x7fffffffu : encode<format_tf32>(x, rounding) << 13;
    case Name::f64:
      return std::bit_cast<U64>(x);
    default:
      return std::isnan(x) ? 0x7fffffffu : encode<format_f32>(x, rounding);
  }
}

// Out of range clamps. NaN is the top bit if either side has 64 bits, else 0.
inline U64 to_integer(double x, Name to, Name from) {
  const int bits = 8 * bytes_of(to);
  if (std::isnan(x)) {
    const U64 top = U64{1} << (bits - 1);
    if (bits < 64 && from != Name::f64) return 0;
    return is_signed(to) ? U64{0} - top : top;
  }
  if (is_signed(to)) {
    const double limit = std::ldexp(1.0, bits - 1);
    if (x >= limit) return (U64{1} << (bits - 1)) - 1;
    if (x < -limit) return U64{0} - (U64{1} << (bits - 1));
    return static_cast<U64>(static_cast<I64>(x));
  }
  if (x <= 0) return 0;
  if (x >= std::ldexp(1.0, bits)) return bits == 64 ? ~U64{0} : (U64{1} << bits) - 1;
  return static_cast<U64>(x);
}

// The value of an integer source, sign-extended as its type says.
inline U64 load_integer(U64 bits, Name from) {
  const int drop = 64 - 8 * bytes_of(from);
  bits <<= drop;
  return is_signed(from) ? static_cast<U64>(static_cast<I64>(bits) >> drop) : bits >> drop;
}

inline U64 clamp_integer(U64 value, Name from, Name to) {
  const int bits = 8 * bytes_of(to);
  const bool negative = is_signed(from) && static_cast<I64>(value) < 0;
  if (is_signed(to)) {
    const I64 high = static_cast<I64>((U64{1} << (bits - 1)) - 1);
    if (negative) return static_cast<U64>(std::max(static_cast<I64>(value), -high - 1));
    return std::min(value, static_cast<U64>(high));
  }
  if (negative) return 0;
  return bits == 64 ? value : std::min(value, (U64{1} << bits) - 1);
}

// Integers beyond 53 bits do not fit into a double: round to odd, so that the second rounding is
// right.
inline double integer_to_double(U64 value, bool sign, Name to, Rounding rounding) {
  const bool negative = sign && static_cast<I64>(value) < 0;
  U64 magnitude = negative ? 0 - value : value;
  int shift = 0;
  U64 lost = 0;
  if (magnitude >> 53 != 0) {
    shift = 64 - std::countl_zero(magnitude) - 53;
    lost = magnitude & ((U64{1} << shift) - 1);
    magnitude >>= shift;
  }
  if (to == Name::f64 && lost != 0) {
    const U64 half = U64{1} << (shift - 1);
    const bool up = rounding == Rounding::nearest ? lost > half || (lost == half && magnitude & 1)
                    : rounding == Rounding::up    ? !negative
                    : rounding == Rounding::down  ? negative
                                                  : false;
    magnitude += up;
  } else if (lost != 0) {
    magnitude |= 1;
  }
  const double x = std::ldexp(static_cast<double>(magnitude), shift);
  return negative ? -x : x;
}

}  // namespace emulator
