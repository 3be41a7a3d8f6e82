// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/element.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace warpmeter {

std::string to_string(Element type) {
  switch (type) {
    case Element::f32:
      return "f32";
    case Element::bf16:
      return "bf16";
    case Element::f16:
      return "f16";
    case Element::e4m3:
      return "e4m3";
    case Element::int8:
      return "int8";
    case Element::i32:
      return "i32";
    case Element::u8:
      return "u8";
  }
  throw std::logic_error("element type without a name");
}

Element parse_element(std::string_view text) {
  if (text == "f32") return Element::f32;
  if (text == "bf16") return Element::bf16;
  if (text == "f16") return Element::f16;
  if (text == "e4m3") return Element::e4m3;
  if (text == "int8") return Element::int8;
  throw InputError("kernel type '" + std::string(text) +
                   "' is unknown: use f32, bf16, f16, e4m3 or int8");
}

float f16_to_float(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

std::uint16_t float_to_f16(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

float e4m3_to_float(std::uint8_t bits) {
  const int exponent = (bits >> 3) & 15, fraction = bits & 7;
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  if (exponent == 15 && fraction == 7) return std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -9);
  return sign * std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
}

std::uint8_t float_to_e4m3(float value) {
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return sign | 0x7f;
  const float size = std::min(std::abs(value), 448.0f);
  // Steps of 2^-9 below 2^-6; above, of 1/8 of the power of two.
  const int exponent = std::max(size > 0 ? std::ilogb(size) : -6, -6);
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(size, 3 - exponent)));
  // `steps` is 8 to 16 for normal numbers; adding it carries into the exponent where it rounds up.
  return static_cast<std::uint8_t>(sign | (((exponent + 6) << 3) + steps));
}

}  // namespace warpmeter
