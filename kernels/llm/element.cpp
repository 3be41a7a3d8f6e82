// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/element.h"

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
    case Element::i32:
      return "i32";
  }
  throw std::logic_error("element type without a name");
}

Element parse_element(std::string_view text) {
  if (text == "f32") return Element::f32;
  if (text == "bf16") return Element::bf16;
  if (text == "f16") return Element::f16;
  throw InputError("kernel type '" + std::string(text) + "' is unknown: use f32, bf16 or f16");
}

float f16_to_float(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

std::uint16_t float_to_f16(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

}  // namespace warpmeter
