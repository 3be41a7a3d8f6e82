// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <type_traits>

// Integer types by signedness and width; part of integer.cpp.
namespace emulator {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

// Twice as wide, for wide and high products.
template <typename T>
struct Double;
template <>
struct Double<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct Double<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct Double<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct Double<std::int32_t> {
  using type = std::int64_t;
};
template <>
struct Double<std::uint64_t> {
  using type = unsigned __int128;
};
template <>
struct Double<std::int64_t> {
  using type = __int128;
};
template <typename T>
using Twice = typename Double<T>::type;

template <typename T>
T wrap(Unsigned<T> value) {
  return static_cast<T>(value);
}

}  // namespace emulator
