// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "emulator/decode/formats.h"

// What atomics and reductions compute from the old value and their operands.
namespace emulator::atomics {

using U16 = std::uint16_t;
using U32 = std::uint32_t;

struct Add {
  template <typename T>
  static T of(T old, T b, T) {
    return static_cast<T>(old + b);
  }
};
struct Min {
  template <typename T>
  static T of(T old, T b, T) {
    return std::min(old, b);
  }
};
struct Max {
  template <typename T>
  static T of(T old, T b, T) {
    return std::max(old, b);
  }
};
struct And {
  template <typename T>
  static T of(T old, T b, T) {
    return old & b;
  }
};
struct Or {
  template <typename T>
  static T of(T old, T b, T) {
    return old | b;
  }
};
struct Xor {
  template <typename T>
  static T of(T old, T b, T) {
    return old ^ b;
  }
};
struct Exch {
  template <typename T>
  static T of(T, T b, T) {
    return b;
  }
};
struct Cas {
  template <typename T>
  static T of(T old, T b, T c) {
    return old == b ? c : old;
  }
};
struct Inc {
  template <typename T>
  static T of(T old, T b, T) {
    return old >= b ? T{0} : static_cast<T>(old + 1);
  }
};
struct Dec {
  template <typename T>
  static T of(T old, T b, T) {
    return old == 0 || old > b ? b : static_cast<T>(old - 1);
  }
};
struct AddF16x2 {
  static U32 of(U32 old, U32 b, U32) {
    const auto one = [](U32 x, U32 y) {
      return U32{
          float_to_f16(f16_to_float(static_cast<U16>(x)) + f16_to_float(static_cast<U16>(y)))};
    };
    return one(old >> 16, b >> 16) << 16 | one(old, b);
  }
};
struct AddBf16x2 {
  static U32 of(U32 old, U32 b, U32) {
    const auto one = [](U32 x, U32 y) {
      return U32{
          float_to_bf16(bf16_to_float(static_cast<U16>(x)) + bf16_to_float(static_cast<U16>(y)))};
    };
    return one(old >> 16, b >> 16) << 16 | one(old & 0xffff, b & 0xffff);
  }
};
struct AddF16 {
  static U16 of(U16 old, U16 b, U16) { return float_to_f16(f16_to_float(old) + f16_to_float(b)); }
};
struct AddBf16 {
  static U16 of(U16 old, U16 b, U16) {
    return float_to_bf16(bf16_to_float(old) + bf16_to_float(b));
  }
};

}  // namespace emulator::atomics
