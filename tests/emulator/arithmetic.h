// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

// Functions that host and device both compile: what the host's compiler makes of them is the truth.
constexpr int cases = 64;

template <typename T>
BOTH T shift(T a, T b) {
  return (a << (b & 7)) + (a >> (b & 15));
}

BOTH inline std::uint64_t integer_case(int which, std::uint64_t a, std::uint64_t b,
                                       std::uint64_t c) {
  const auto a32 = static_cast<std::uint32_t>(a);
  const auto b32 = static_cast<std::uint32_t>(b);
  const auto c32 = static_cast<std::uint32_t>(c);
  const auto s32 = static_cast<std::int32_t>(a32 >> 1) - 0x20000000;  // sums cannot overflow
  const auto t32 = static_cast<std::int32_t>(b32 >> 2) - 0x10000000;
  const auto s64 = static_cast<std::int64_t>(a >> 2) - (std::int64_t{1} << 60);
  const auto t64 = static_cast<std::int64_t>(b >> 40) - (1 << 20);
  const auto a16 = static_cast<std::uint16_t>(a);
  const auto b16 = static_cast<std::uint16_t>(b);
  switch (which) {
    case 0:
      return a32 + b32;
    case 1:
      return a32 - b32;
    case 2:
      return a32 * b32 + c32;
    case 3:
      return static_cast<std::uint64_t>(a32) * b32 + c;
    case 4:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(s32) * t32);
    case 5:
      return a * b + c;
    case 6:
      return a32 / (b32 | 1);
    case 7:
      return a32 % (b32 | 1);
    case 8:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(s32 / (t32 | 1)));
    case 9:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(s32 % (t32 | 1)));
    case 10:
      return a / (b | 1);
    case 11:
      return static_cast<std::uint64_t>(s64 / (t64 | 1));
    case 12:
      return static_cast<std::uint64_t>(s64 % (t64 | 1));
    case 13:
      return s32 < t32 ? a : b;
    case 14:
      return a < b ? a32 : c32;
    case 15:
      return shift(a32, b32);
    case 16:
      return shift(a, b);
    case 17:
      return static_cast<std::uint64_t>(s32 >> (b32 & 31));
    case 18:
      return static_cast<std::uint64_t>(s64 >> (b & 63));
    case 19:
      return (a & b) ^ (~b | c);
    case 20:
      return (a32 & b32) ^ (~b32 | c32);
    case 21:
      return static_cast<std::uint16_t>(a16 * b16 + 3);
    case 22:
      return static_cast<std::uint64_t>(static_cast<std::int16_t>(a16) *
                                        static_cast<std::int16_t>(b16));
    case 23:
      return static_cast<std::uint64_t>(static_cast<std::int8_t>(a) + static_cast<std::int8_t>(b));
    case 24:
      return static_cast<std::uint8_t>(a) * static_cast<std::uint8_t>(b);
    case 25:
      return static_cast<std::uint64_t>(s32 < 0 ? -s32 : s32);
    case 26:
      return a32 > b32 ? a32 - b32 : b32 - a32;
    case 27:
      return (a32 << 7) | (a32 >> 25);
    case 28:
      return (a << 13) | (a >> 51);
    case 29:
      return a32 == b32 || (a32 & 1) != 0 ? c : a;
    case 30:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(a32)));
    case 31:
      return (a >> 17) & 0x3fff;
    default:
      return 0;
  }
}

BOTH inline float float_case(int which, float a, float b, float c) {
  switch (which) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a / b;
    case 4:
      return sqrtf(fabsf(a));
    case 5:
      return fmaf(a, b, c);
    case 6:
      return fminf(a, b);
    case 7:
      return fmaxf(a, b);
    case 8:
      return truncf(a);
    case 9:
      return floorf(a);
    case 10:
      return ceilf(a);
    case 11:
      return rintf(a);
    case 12:
      return a < b ? a : c;
    case 13:
      return copysignf(a, b);
    case 14:
      return static_cast<float>(static_cast<std::int32_t>(fmodf(a, 1e6f)));
    case 15:
      return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + 1.0);
    case 16:
      return static_cast<float>(sqrt(fabs(static_cast<double>(a)) + 1e-30) / 3.0);
    case 17:
      return a != a ? 1.0f : 0.0f;
    case 18:
      return a <= b || c > a ? b : -b;
    default:
      return 0;
  }
}
constexpr int integer_cases = 32;
constexpr int float_cases = 19;
