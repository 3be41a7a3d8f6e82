// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cstdint>

#include "emulator/machine/warp.h"

namespace emulator {

// A register holds 32 lanes: 4 B apart up to 32 bits, 8 B apart for 64 bits, 16 B for 128.
using U128 = unsigned __int128;

template <typename T>
inline constexpr int stride = sizeof(T) <= 4 ? 4 : static_cast<int>(sizeof(T));

template <typename T>
inline T& lane_of(std::byte* slot, int lane) {
  return *reinterpret_cast<T*>(slot + lane * stride<T>);
}
template <typename T>
inline T& lane_of(Warp& warp, std::int32_t offset, int lane) {
  return lane_of<T>(warp.file + offset, lane);
}
inline std::uint32_t& predicate(Warp& warp, std::int32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(warp.file + offset);
}
inline void set_predicate(Warp& warp, std::int32_t offset, std::uint32_t bits, std::uint32_t mask) {
  std::uint32_t& slot = predicate(warp, offset);
  slot = (slot & ~mask) | (bits & mask);
}

template <typename F>
inline void for_lanes(std::uint32_t mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

// d = F(a), F(a, b), F(a, b, c), lane by lane. Lanes do not depend on each other, also where d is
// one of the sources: that is what ivdep says.
template <typename D, typename A, typename F>
inline void map1(Warp& warp, const Instr& instr, std::uint32_t mask, F f) {
  std::byte* d = warp.file + instr.dst;
  std::byte* a = warp.file + instr.a;
  if (mask == all_lanes) {
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) lane_of<D>(d, l) = f(lane_of<A>(a, l));
  } else {
    for_lanes(mask, [&](int l) { lane_of<D>(d, l) = f(lane_of<A>(a, l)); });
  }
}

template <typename D, typename A, typename B, typename F>
inline void map2(Warp& warp, const Instr& instr, std::uint32_t mask, F f) {
  std::byte* d = warp.file + instr.dst;
  std::byte* a = warp.file + instr.a;
  std::byte* b = warp.file + instr.b;
  if (mask == all_lanes) {
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) lane_of<D>(d, l) = f(lane_of<A>(a, l), lane_of<B>(b, l));
  } else {
    for_lanes(mask, [&](int l) { lane_of<D>(d, l) = f(lane_of<A>(a, l), lane_of<B>(b, l)); });
  }
}

template <typename D, typename A, typename B, typename C, typename F>
inline void map3(Warp& warp, const Instr& instr, std::uint32_t mask, F f) {
  std::byte* d = warp.file + instr.dst;
  std::byte* a = warp.file + instr.a;
  std::byte* b = warp.file + instr.b;
  std::byte* c = warp.file + instr.c;
  if (mask == all_lanes) {
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) {
      lane_of<D>(d, l) = f(lane_of<A>(a, l), lane_of<B>(b, l), lane_of<C>(c, l));
    }
  } else {
    for_lanes(mask, [&](int l) {
      lane_of<D>(d, l) = f(lane_of<A>(a, l), lane_of<B>(b, l), lane_of<C>(c, l));
    });
  }
}

// Handlers made of a stateless function object on one type.
template <typename F, typename D, typename A = D>
void unary(Warp& w, const Instr& i, std::uint32_t mask) {
  map1<D, A>(w, i, mask, F{});
}
template <typename F, typename D, typename A = D, typename B = A>
void binary(Warp& w, const Instr& i, std::uint32_t mask) {
  map2<D, A, B>(w, i, mask, F{});
}
template <typename F, typename D, typename A = D, typename B = A, typename C = D>
void ternary(Warp& w, const Instr& i, std::uint32_t mask) {
  map3<D, A, B, C>(w, i, mask, F{});
}

}  // namespace emulator
