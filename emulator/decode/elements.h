// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "emulator/decode/formats.h"

// Elements of the matrices that tensor instructions multiply, and of their sums.
namespace emulator::elements {

using U32 = std::uint32_t;

struct F16 {
  static constexpr int bits = 16;
  static double value(U32 x) {
    return static_cast<double>(f16_to_float(static_cast<std::uint16_t>(x)));
  }
};
struct Bf16 {
  static constexpr int bits = 16;
  static double value(U32 x) {
    return static_cast<double>(bf16_to_float(static_cast<std::uint16_t>(x)));
  }
};
// The hardware reads the upper 19 bits.
struct Tf32 {
  static constexpr int bits = 32;
  static double value(U32 x) { return static_cast<double>(std::bit_cast<float>(x & 0xffffe000u)); }
};
struct E4m3 {
  static constexpr int bits = 8;
  static double value(U32 x) { return decode<format_e4m3>(x & 0xff); }
};
struct E5m2 {
  static constexpr int bits = 8;
  static double value(U32 x) { return decode<format_e5m2>(x & 0xff); }
};
struct S8 {
  static constexpr int bits = 8;
  static std::int32_t value(U32 x) { return static_cast<std::int8_t>(x); }
};
struct U8 {
  static constexpr int bits = 8;
  static std::int32_t value(U32 x) { return static_cast<std::uint8_t>(x); }
};

struct F32Sum {
  static constexpr bool packed = false;
  static double load(U32 x) { return static_cast<double>(std::bit_cast<float>(x)); }
  static U32 store(double x) {
    const float r = static_cast<float>(x);
    return std::isnan(r) ? 0x7fffffffu : std::bit_cast<U32>(r);
  }
};
struct F16Sum {
  static constexpr bool packed = true;
  static double load(U32 x) { return F16::value(x); }
  static U32 store(double x) { return encode<format_f16>(x); }
};
struct S32Sum {
  static constexpr bool packed = false;
  static std::int64_t load(U32 x) { return static_cast<std::int32_t>(x); }
  static U32 store(std::int64_t x) { return static_cast<U32>(x); }
};
struct S32Saturated : S32Sum {
  static U32 store(std::int64_t x) {
    return static_cast<U32>(std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX));
  }
};

}  // namespace emulator::elements
