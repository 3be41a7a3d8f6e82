// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

// IEEE arithmetic of any format by MPFR, which shares nothing with the emulated GPU.
namespace fuzz {

enum class Round : std::uint8_t { nearest, zero, down, up };

// Significant bits, and exponents as MPFR counts them: of the smallest subnormal, and of infinity.
struct Format {
  int precision;
  int lowest;
  int highest;
  int bits;
};
inline constexpr Format f16{11, -23, 16, 16};
inline constexpr Format bf16{8, -132, 128, 16};
inline constexpr Format tf32{11, -135, 128, 19};  // the upper 19 bits of an f32
inline constexpr Format f32{24, -148, 128, 32};
inline constexpr Format f64{53, -1073, 1024, 64};

bool is_nan(const Format& f, std::uint64_t bits);
bool is_subnormal(const Format& f, std::uint64_t bits);
std::uint64_t sign_of(const Format& f, std::uint64_t bits);    // its bit, in place
std::uint64_t canonical_nan(const Format& f);                  // as PTX has it
double value_of(const Format& f, std::uint64_t bits);          // exact
std::uint64_t bits_of(const Format& f, double representable);  // of a value of the format

// Correctly rounded; NaN is canonical. `op` is one of + - * / f (a * b + c) s (sqrt a).
std::uint64_t arithmetic(const Format& f, char op, Round round, std::uint64_t a, std::uint64_t b,
                         std::uint64_t c);
std::uint64_t from_double(const Format& f, double x, Round round);
std::uint64_t from_signed(const Format& f, std::int64_t x, Round round);
std::uint64_t from_unsigned(const Format& f, std::uint64_t x, Round round);

}  // namespace fuzz
