// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/fuzz/exact.h"

#include <mpfr.h>

#include <bit>
#include <cmath>

namespace fuzz {
namespace {

class Number {
 public:
  explicit Number(int precision) { mpfr_init2(value_, precision); }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

mpfr_rnd_t direction(Round round) {
  switch (round) {
    case Round::zero:
      return MPFR_RNDZ;
    case Round::down:
      return MPFR_RNDD;
    case Round::up:
      return MPFR_RNDU;
    default:
      return MPFR_RNDN;
  }
}

int mantissa_bits(const Format& f) { return f.precision - 1; }

// What `set` computes at the format's precision, brought into its range as MPFR's manual says.
template <typename F>
std::uint64_t rounded(const Format& f, Round round, F&& set) {
  thread_local Number numbers[] = {Number(8), Number(11), Number(24), Number(53)};
  mpfr_ptr x = numbers[f.precision == 8    ? 0
                       : f.precision == 11 ? 1
                       : f.precision == 24 ? 2
                                           : 3]
                   .get();
  const mpfr_exp_t low = mpfr_get_emin();
  const mpfr_exp_t high = mpfr_get_emax();
  const mpfr_rnd_t way = direction(round);
  int inexact = set(x, way);
  mpfr_set_emin(f.lowest);
  mpfr_set_emax(f.highest);
  inexact = mpfr_check_range(x, inexact, way);
  mpfr_subnormalize(x, inexact, way);
  mpfr_set_emin(low);
  mpfr_set_emax(high);
  if (mpfr_nan_p(x)) return canonical_nan(f);
  return bits_of(f, mpfr_get_d(x, MPFR_RNDN));
}

}  // namespace

bool is_nan(const Format& f, std::uint64_t bits) { return std::isnan(value_of(f, bits)); }

bool is_subnormal(const Format& f, std::uint64_t bits) {
  const std::uint64_t exponent_ones = (std::uint64_t{1} << (f.bits - f.precision)) - 1;
  return (bits >> mantissa_bits(f) & exponent_ones) == 0 &&
         (bits & ((std::uint64_t{1} << mantissa_bits(f)) - 1)) != 0;
}

std::uint64_t sign_of(const Format& f, std::uint64_t bits) {
  return bits & std::uint64_t{1} << (f.bits - 1);
}

std::uint64_t canonical_nan(const Format& f) {
  return f.bits == 64 ? 0x7ff8000000000000 : (std::uint64_t{1} << (f.bits - 1)) - 1;
}

double value_of(const Format& f, std::uint64_t bits) {
  if (f.bits == 64) return std::bit_cast<double>(bits);
  if (f.bits == 32)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const int m = mantissa_bits(f);
  const int exponent_bits = f.bits - f.precision;
  const int ones = (1 << exponent_bits) - 1;
  const auto exponent = static_cast<int>(bits >> m) & ones;
  const double fraction = static_cast<double>(bits & ((std::uint64_t{1} << m) - 1));
  const double sign = sign_of(f, bits) != 0 ? -1 : 1;
  if (exponent == ones) return fraction == 0 ? sign * INFINITY : NAN;
  const int bias = ones / 2;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - m);
  return sign * std::ldexp(fraction + std::ldexp(1.0, m), exponent - bias - m);
}

std::uint64_t bits_of(const Format& f, double x) {
  if (f.bits == 64) return std::bit_cast<std::uint64_t>(x);
  if (f.bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(x));
  const int m = mantissa_bits(f);
  const int exponent_bits = f.bits - f.precision;
  const std::uint64_t sign = std::signbit(x) ? std::uint64_t{1} << (f.bits - 1) : 0;
  const double magnitude = std::fabs(x);
  if (std::isinf(x)) return sign | ((std::uint64_t{1} << exponent_bits) - 1) << m;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (magnitude < std::ldexp(1.0, 1 - bias)) {
    return sign | static_cast<std::uint64_t>(std::ldexp(magnitude, m + bias - 1));
  }
  const int exponent = std::ilogb(magnitude);
  const auto whole = static_cast<std::uint64_t>(std::ldexp(magnitude, m - exponent));
  return sign | ((static_cast<std::uint64_t>(exponent + bias - 1) << m) + whole);
}

std::uint64_t arithmetic(const Format& f, char op, Round round, std::uint64_t a, std::uint64_t b,
                         std::uint64_t c) {
  thread_local Number x(53), y(53), z(53);
  mpfr_set_d(x.get(), value_of(f, a), MPFR_RNDN);
  mpfr_set_d(y.get(), value_of(f, b), MPFR_RNDN);
  mpfr_set_d(z.get(), value_of(f, c), MPFR_RNDN);
  return rounded(f, round, [&](mpfr_ptr r, mpfr_rnd_t way) {
    switch (op) {
      case '+':
        return mpfr_add(r, x.get(), y.get(), way);
      case '-':
        return mpfr_sub(r, x.get(), y.get(), way);
      case '*':
        return mpfr_mul(r, x.get(), y.get(), way);
      case '/':
        return mpfr_div(r, x.get(), y.get(), way);
      case 's':
        return mpfr_sqrt(r, x.get(), way);
      default:
        return mpfr_fma(r, x.get(), y.get(), z.get(), way);
    }
  });
}

std::uint64_t from_double(const Format& f, double x, Round round) {
  return rounded(f, round, [x](mpfr_ptr r, mpfr_rnd_t way) { return mpfr_set_d(r, x, way); });
}
std::uint64_t from_signed(const Format& f, std::int64_t x, Round round) {
  return rounded(f, round, [x](mpfr_ptr r, mpfr_rnd_t way) { return mpfr_set_si(r, x, way); });
}
std::uint64_t from_unsigned(const Format& f, std::uint64_t x, Round round) {
  return rounded(f, round, [x](mpfr_ptr r, mpfr_rnd_t way) { return mpfr_set_ui(r, x, way); });
}

}  // namespace fuzz
