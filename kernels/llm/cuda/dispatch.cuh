// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "kernels/llm/cuda/vector.cuh"
#include "kernels/llm/element.h"

namespace warpmeter {

// Calls f(T{}) with the C++ type of `type`.
template <class F>
void for_type(Element type, F f) {
  if (type == Element::f32) return f(float());
  if (type == Element::bf16) return f(__nv_bfloat16());
  if (type == Element::f16) return f(__half());
  throw std::logic_error("a kernel on rows has no such type");
}

// The same for the types that matrix instructions multiply.
template <class F>
void for_half_type(Element type, F f) {
  if (type == Element::bf16) return f(__nv_bfloat16());
  if (type == Element::f16) return f(__half());
  throw std::logic_error("a matrix product has no such type");
}

// Calls f(element, width), where the constant `width` says how many elements one access takes: 16
// bytes if all rows of `columns` elements start at multiples of 16 bytes, else one element.
template <class T, class F>
void with_width(T element, std::int64_t columns, F f) {
  constexpr int full = full_width<T>;
  if (columns % full == 0)
    f(element, std::integral_constant<int, full>());
  else
    f(element, std::integral_constant<int, 1>());
}

// Type and width together, for kernels on rows and for those of matrix instructions.
template <class F>
void for_rows_of(Element type, std::int64_t columns, F f) {
  for_type(type, [&](auto element) { with_width(element, columns, f); });
}
template <class F>
void for_half_rows_of(Element type, std::int64_t columns, F f) {
  for_half_type(type, [&](auto element) { with_width(element, columns, f); });
}

// Threads per block, whole warps, for rows of `columns` elements of which each thread takes
// `per_thread`.
constexpr int row_threads(std::int64_t columns, int per_thread) {
  const std::int64_t threads = (columns + per_thread - 1) / per_thread;
  return static_cast<int>((threads + 31) / 32 * 32);
}

}  // namespace warpmeter
