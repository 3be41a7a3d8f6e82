// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/host/stream.h"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/stream.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace warpmeter {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Real = hn::ScalableTag<double>;
using Word = hn::ScalableTag<std::uint64_t>;

constexpr std::size_t unroll = 8;

// Eight sums hide the latency of an addition at two or three loads per cycle.
std::uint64_t read(const double* HWY_RESTRICT from, std::size_t count, std::size_t passes) {
  const Word d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* words = reinterpret_cast<const std::uint64_t*>(from);
  hn::Vec<Word> sum[unroll];
#pragma GCC unroll 8
  for (std::size_t u = 0; u < unroll; ++u) sum[u] = hn::Zero(d);
  std::uint64_t tail = 0;
  for (; passes != 0; --passes) {
    std::size_t i = 0;
    for (; i + unroll * lanes <= count; i += unroll * lanes) {
#pragma GCC unroll 8
      for (std::size_t u = 0; u < unroll; ++u)
        sum[u] = hn::Add(sum[u], hn::Load(d, words + i + u * lanes));
    }
    for (; i < count; ++i) tail += std::bit_cast<std::uint64_t>(from[i]);
    asm volatile("" ::: "memory");  // every pass loads again
  }
#pragma GCC unroll 8
  for (std::size_t u = 1; u < unroll; ++u) sum[0] = hn::Add(sum[0], sum[u]);
  return tail + hn::GetLane(hn::SumOfLanes(d, sum[0]));
}

template <class Body, class Tail>
HWY_INLINE void sweep(std::size_t count, std::size_t passes, const Body& body, const Tail& tail) {
  const std::size_t lanes = hn::Lanes(Real());
  for (; passes != 0; --passes) {
    std::size_t i = 0;
    for (; i + unroll * lanes <= count; i += unroll * lanes) {
#pragma GCC unroll 8
      for (std::size_t u = 0; u < unroll; ++u) body(i + u * lanes);
    }
    for (; i < count; ++i) tail(i);
    asm volatile("" ::: "memory");  // every pass counts, not only the last one
  }
}

void write(double* HWY_RESTRICT to, double value, std::size_t count, std::size_t passes) {
  const Real d;
  const auto v = hn::Set(d, value);
  sweep(
      count, passes, [&](std::size_t i) HWY_ATTR { hn::Store(v, d, to + i); },
      [&](std::size_t i) HWY_ATTR { to[i] = value; });
}

void write_nt(double* HWY_RESTRICT to, double value, std::size_t count, std::size_t passes) {
  const Real d;
  const auto v = hn::Set(d, value);
  sweep(
      count, passes, [&](std::size_t i) HWY_ATTR { hn::Stream(v, d, to + i); },
      [&](std::size_t i) HWY_ATTR { to[i] = value; });
  hwy::FlushStream();
}

void copy(double* HWY_RESTRICT to, const double* HWY_RESTRICT from, std::size_t count,
          std::size_t passes) {
  const Real d;
  sweep(
      count, passes, [&](std::size_t i) HWY_ATTR { hn::Store(hn::Load(d, from + i), d, to + i); },
      [&](std::size_t i) HWY_ATTR { to[i] = from[i]; });
}

void copy_nt(double* HWY_RESTRICT to, const double* HWY_RESTRICT from, std::size_t count,
             std::size_t passes) {
  const Real d;
  sweep(
      count, passes, [&](std::size_t i) HWY_ATTR { hn::Stream(hn::Load(d, from + i), d, to + i); },
      [&](std::size_t i) HWY_ATTR { to[i] = from[i]; });
  hwy::FlushStream();
}

void triad(double* HWY_RESTRICT to, const double* HWY_RESTRICT left,
           const double* HWY_RESTRICT right, double scale, std::size_t count, std::size_t passes) {
  const Real d;
  const auto s = hn::Set(d, scale);
  sweep(
      count, passes,
      [&](std::size_t i) HWY_ATTR {
        hn::Store(hn::MulAdd(s, hn::Load(d, right + i), hn::Load(d, left + i)), d, to + i);
      },
      [&](std::size_t i) HWY_ATTR { to[i] = left[i] + scale * right[i]; });
}

}  // namespace HWY_NAMESPACE
}  // namespace warpmeter
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmeter {

HWY_EXPORT(read);
HWY_EXPORT(write);
HWY_EXPORT(write_nt);
HWY_EXPORT(copy);
HWY_EXPORT(copy_nt);
HWY_EXPORT(triad);

std::uint64_t stream_read(const double* from, std::size_t count, std::size_t passes) {
  return HWY_DYNAMIC_DISPATCH(read)(from, count, passes);
}
void stream_write(double* to, double value, std::size_t count, std::size_t passes) {
  HWY_DYNAMIC_DISPATCH(write)(to, value, count, passes);
}
void stream_write_nt(double* to, double value, std::size_t count, std::size_t passes) {
  HWY_DYNAMIC_DISPATCH(write_nt)(to, value, count, passes);
}
void stream_copy(double* to, const double* from, std::size_t count, std::size_t passes) {
  HWY_DYNAMIC_DISPATCH(copy)(to, from, count, passes);
}
void stream_copy_nt(double* to, const double* from, std::size_t count, std::size_t passes) {
  HWY_DYNAMIC_DISPATCH(copy_nt)(to, from, count, passes);
}
void stream_triad(double* to, const double* left, const double* right, double scale,
                  std::size_t count, std::size_t passes) {
  HWY_DYNAMIC_DISPATCH(triad)(to, left, right, scale, count, passes);
}

}  // namespace warpmeter
#endif
