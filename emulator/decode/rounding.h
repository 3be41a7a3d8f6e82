// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "emulator/decode/formats.h"
#include "emulator/ptx/module.h"

// Modifiers of f32 and f64 arithmetic. Files that include this are compiled with -frounding-math.
namespace emulator {

// Bits of Instr::mode.
inline constexpr std::uint8_t mode_rounding = 7;  // a Rounding
inline constexpr std::uint8_t mode_flush = 8;
inline constexpr std::uint8_t mode_saturate = 16;
inline constexpr std::uint8_t mode_nan = 32;  // min, max: NaN wins
inline constexpr std::uint8_t mode_xorsign = 64;

inline std::uint8_t rounding_mode(const ptx::Instruction& in) {
  std::uint8_t mode = 0;
  if (in.has("rz")) mode = static_cast<std::uint8_t>(Rounding::zero);
  if (in.has("rm")) mode = static_cast<std::uint8_t>(Rounding::down);
  if (in.has("rp")) mode = static_cast<std::uint8_t>(Rounding::up);
  if (in.has("ftz")) mode |= mode_flush;
  if (in.has("sat")) mode |= mode_saturate;
  if (in.has("NaN")) mode |= mode_nan;
  if (in.has("xorsign")) mode |= mode_xorsign;
  return mode;
}

template <typename T>
T flush(T x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T{0}, x) : x;
}

// PTX results are canonical NaNs.
inline float quiet(float x) { return std::isnan(x) ? std::bit_cast<float>(0x7fffffffu) : x; }
inline double quiet(double x) { return x; }

class RoundingScope {
 public:
  explicit RoundingScope(std::uint8_t mode) {
    switch (static_cast<Rounding>(mode & mode_rounding)) {
      case Rounding::zero:
        std::fesetround(FE_TOWARDZERO);
        break;
      case Rounding::down:
        std::fesetround(FE_DOWNWARD);
        break;
      case Rounding::up:
        std::fesetround(FE_UPWARD);
        break;
      default:
        break;
    }
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
};

}  // namespace emulator
