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
    case Element::i32:
      return "i32";
  }
  throw std::logic_error("element type without a name");
}

Element parse_element(std::string_view text) {
  if (text == "f32") return Element::f32;
  if (text == "bf16") return Element::bf16;
  throw InputError("kernel type '" + std::string(text) + "' is unknown: use f32 or bf16");
}

}  // namespace warpmeter
