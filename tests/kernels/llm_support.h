// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <gtest/gtest.h>

#include <dnnl.hpp>

#include "kernels/llm/onednn.h"

namespace warpmeter {

// The types that kernels can have here: bf16 only where the CPU has it.
inline std::vector<Element> testable_types() {
  if (unsupported_type(Element::bf16, dnnl::get_effective_cpu_isa())) return {Element::f32};
  return {Element::f32, Element::bf16};
}

// Relative to the value: one rounding to the type, or a few of f32.
inline double test_tolerance(Element type) { return type == Element::bf16 ? 0x1p-8 : 2e-6; }

}  // namespace warpmeter
