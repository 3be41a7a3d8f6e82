// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "tests/emulator/kernels.h"
#include "tests/emulator/managed.h"

namespace {

std::vector<std::uint64_t> words(std::size_t n) {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> result;
  const std::uint64_t corners[] = {0,          1,          ~0ull,      1ull << 31,
                                   1ull << 63, 0x7fffffff, 0xffffffff, 0x8000000080000000};
  for (const std::uint64_t a : corners) {
    for (const std::uint64_t b : corners) {
      for (const std::uint64_t c : {a ^ b, b}) result.insert(result.end(), {a, b, c});
    }
  }
  while (result.size() < 3 * n) result.push_back(random() >> (random() % 40));
  return result;
}

TEST(Arithmetic, IntegersAsOnTheHost) {
  constexpr int n = 1000;
  Managed<std::uint64_t> in(words(n));
  Managed<std::uint64_t> out(integer_cases * n);
  run_integers(in.get(), out.get(), n);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (std::size_t which = 0; which < integer_cases; ++which) {
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(out[which * n + i],
                integer_case(static_cast<int>(which), in[3 * i], in[3 * i + 1], in[3 * i + 2]))
          << "case " << which << " of " << in[3 * i] << ", " << in[3 * i + 1] << ", "
          << in[3 * i + 2];
    }
  }
}

TEST(Arithmetic, FloatsAsOnTheHost) {
  constexpr int n = 1000;
  std::mt19937 random(11);
  std::vector<float> values{0.0f,   -0.0f,   1.0f,    INFINITY, -INFINITY, NAN,
                            1e-42f, -1e-40f, 3.4e38f, 0.5f,     2.5f,      -3.5f};
  while (values.size() < 3 * n) {
    float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(x)) x = NAN;  // the host's minimum of a signalling NaN is another
    values.push_back(random() % 2 ? x : std::ldexp(static_cast<float>(random()), -20));
  }
  Managed<float> in(values);
  Managed<float> out(float_cases * n);
  run_floats(in.get(), out.get(), n);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (std::size_t which = 0; which < float_cases; ++which) {
    for (std::size_t i = 0; i < n; ++i) {
      const float a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
      if (which == 14 && !(std::fabs(a) < 1e30f))
        continue;  // a host's conversion of NaN is undefined
      const float want = float_case(static_cast<int>(which), a, b, c);
      const float got = out[which * n + i];
      // The sign of a minimum of zeros and the bits of NaN are not the host's to say.
      const bool zeros = (which == 6 || which == 7) && a == b;
      ASSERT_TRUE((std::isnan(want) && std::isnan(got)) ||
                  (zeros ? want == got
                         : std::bit_cast<std::uint32_t>(want) == std::bit_cast<std::uint32_t>(got)))
          << "case " << which << " of " << a << ", " << b << ", " << c << ": " << got << " for "
          << want;
    }
  }
}

// The value of a small float by its definition.
double value_of(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  const double fraction =
      static_cast<double>(bits & ((1u << mantissa_bits) - 1)) / std::pow(2, mantissa_bits);
  if (exponent == (1 << exponent_bits) - 1) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * fraction * std::pow(2, 1 - bias);
  return sign * (1 + fraction) * std::pow(2, exponent - bias);
}

std::vector<std::uint32_t> convert(const std::vector<std::uint32_t>& from, int mode) {
  Managed<std::uint32_t> in(from);
  Managed<std::uint32_t> out(from.size());
  run_conversions(in.get(), out.get(), static_cast<int>(from.size()), mode);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return {out.get(), out.get() + out.size()};
}

TEST(Conversion, EveryHalfToFloat) {
  std::vector<std::uint32_t> all(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) all[i] = i;
  const auto floats = convert(all, 0);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const double want = value_of(i, 5, 10);
    const float got = std::bit_cast<float>(floats[i]);
    ASSERT_TRUE(std::isnan(want)
                    ? std::isnan(got)
                    : want == static_cast<double>(got) && std::signbit(want) == std::signbit(got))
        << i;
  }
}

// `rounded` must be the value nearest to x, of two equally near the even one; `zero`: the nearest
// that is not larger.
void check_rounded(float x, std::uint32_t rounded, int exponent_bits, int mantissa_bits,
                   bool zero) {
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  const std::uint32_t sign = std::signbit(x) ? 1u << (exponent_bits + mantissa_bits) : 0;
  if (std::isnan(x)) {
    ASSERT_TRUE(std::isnan(value_of(rounded, exponent_bits, mantissa_bits)));
    return;
  }
  // By bisection over the magnitudes, which are in the order of their bits.
  const double magnitude = std::fabs(static_cast<double>(x));
  std::uint32_t low = 0, high = infinity;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (value_of(middle, exponent_bits, mantissa_bits) <= magnitude ? low : high) = middle;
  }
  if (std::isinf(x)) {
    low = infinity;
  } else if (!zero) {
    const double below = value_of(low, exponent_bits, mantissa_bits);
    // Beyond the largest value the next one would be where infinity is.
    const double above = high == infinity
                             ? 2 * below - value_of(low - 1, exponent_bits, mantissa_bits)
                             : value_of(high, exponent_bits, mantissa_bits);
    const double to_below = magnitude - below, to_above = above - magnitude;
    if (to_above < to_below || (to_above == to_below && (low & 1) != 0)) low = high;
  }
  ASSERT_EQ(rounded, sign | low) << x;
}

TEST(Conversion, FloatsToHalvesAreNearest) {
  std::vector<std::uint32_t> in;
  std::mt19937 random(3);
  for (std::uint32_t half = 0; half < 65536;
       ++half) {  // every half, the middle above it, and its neighbours
    const auto x = std::bit_cast<std::uint32_t>(static_cast<float>(value_of(half, 5, 10)));
    const auto middle = std::bit_cast<std::uint32_t>(
        static_cast<float>((value_of(half, 5, 10) + value_of((half + 1) & 0xffff, 5, 10)) / 2));
    in.insert(in.end(), {x, middle, middle - 1, middle + 1});
  }
  for (int i = 0; i < 20000; ++i) in.push_back(static_cast<std::uint32_t>(random()));
  const auto f16 = convert(in, 1), bf16 = convert(in, 3), f16_zero = convert(in, 4);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const float x = std::bit_cast<float>(in[i]);
    ASSERT_NO_FATAL_FAILURE(check_rounded(x, f16[i], 5, 10, false));
    ASSERT_NO_FATAL_FAILURE(check_rounded(x, bf16[i], 8, 7, false));
    ASSERT_NO_FATAL_FAILURE(check_rounded(x, f16_zero[i], 5, 10, true));
  }
}

TEST(Conversion, PackedHalvesRoundOnce) {
  std::mt19937 random(5);
  std::vector<std::uint32_t> values(30000);
  for (auto& v : values)
    v = (random() & 0xbfffbfff) | 0x20002000;  // moderate exponents, both signs
  Managed<std::uint32_t> in(values);
  const int n = static_cast<int>(values.size() / 3);
  Managed<std::uint32_t> out(static_cast<std::size_t>(n));
  for (int mode = 0; mode < 4; ++mode) {
    run_pairs(in.get(), out.get(), n, mode);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const int e = mode == 3 ? 8 : 5, m = mode == 3 ? 7 : 10;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      for (int half = 0; half < 2; ++half) {
        const auto part = [&](std::uint32_t w) {
          return value_of(w >> (16 * half) & 0xffff, e, m);
        };
        const double a = part(in[3 * i]), b = part(in[3 * i + 1]), c = part(in[3 * i + 2]);
        // Long double holds these sums exactly: 64 bits of mantissa.
        const long double exact = mode == 0   ? static_cast<long double>(a) + b
                                  : mode == 1 ? static_cast<long double>(a) * b
                                              : static_cast<long double>(a) * b + c;
        const double got = part(out[i]);
        if (std::isnan(a) || std::isnan(b) || std::isnan(c) || std::isinf(got) ||
            std::fabs(got) < 1e-4)
          continue;
        const long double error = std::fabs(exact - static_cast<long double>(got));
        const std::uint32_t bits = out[i] >> (16 * half) & 0xffff;
        const double other =
            value_of(exact > static_cast<long double>(got) ? (got > 0 ? bits + 1 : bits - 1)
                                                           : (got > 0 ? bits - 1 : bits + 1),
                     e, m);
        const long double other_error = std::fabs(exact - static_cast<long double>(other));
        ASSERT_TRUE(error < other_error || (error == other_error && (bits & 1) == 0) || error == 0)
            << mode << ": " << a << ", " << b << ", " << c << " gave " << got;
      }
    }
  }
}

}  // namespace
