// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/host/fma.h"

#include <stdexcept>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/fma.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace warpmeter {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Two pipes of four or five cycles need ten chains; AVX-512 has 32 registers, the others 16.
constexpr std::size_t chains = HWY_TARGET <= HWY_AVX3 ? 24 : 12;

template <class T>
void blocks_of(const T* HWY_RESTRICT start, const T* HWY_RESTRICT factor,
               const T* HWY_RESTRICT addend, std::size_t steps, std::size_t blocks,
               T* HWY_RESTRICT result) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto even = hn::Load(d, factor);
  const auto odd = hn::Load(d, factor + lanes);
  const auto add = hn::Load(d, addend);
  for (; blocks != 0; --blocks) {
    hn::Vec<decltype(d)> sum[chains];
#pragma GCC unroll 24
    for (std::size_t i = 0; i < chains; ++i) sum[i] = hn::Load(d, start + i * lanes);
    for (std::size_t step = steps; step != 0; --step) {
#pragma GCC unroll 24
      for (std::size_t i = 0; i < chains; ++i)
        sum[i] = hn::MulAdd(sum[i], i % 2 == 0 ? even : odd, add);
    }
#pragma GCC unroll 24
    for (std::size_t i = 0; i < chains; ++i) hn::Store(sum[i], d, result + i * lanes);
    asm volatile("" ::: "memory");  // every block counts, not only the last one
  }
}

template <class T>
void chain_of(const T* HWY_RESTRICT start, const T* HWY_RESTRICT factor,
              const T* HWY_RESTRICT addend, std::size_t steps, T* HWY_RESTRICT result) {
  const hn::ScalableTag<T> d;
  const auto mul = hn::Load(d, factor);
  const auto add = hn::Load(d, addend);
  auto sum = hn::Load(d, start);
  for (; steps != 0; steps -= 16) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) sum = hn::MulAdd(sum, mul, add);
  }
  hn::Store(sum, d, result);
}

void blocks_f64(const double* start, const double* factor, const double* addend, std::size_t steps,
                std::size_t blocks, double* result) {
  blocks_of(start, factor, addend, steps, blocks, result);
}
void blocks_f32(const float* start, const float* factor, const float* addend, std::size_t steps,
                std::size_t blocks, float* result) {
  blocks_of(start, factor, addend, steps, blocks, result);
}
void chain_f64(const double* start, const double* factor, const double* addend, std::size_t steps,
               double* result) {
  chain_of(start, factor, addend, steps, result);
}
void chain_f32(const float* start, const float* factor, const float* addend, std::size_t steps,
               float* result) {
  chain_of(start, factor, addend, steps, result);
}

FmaShape shape_f64() { return {chains, hn::Lanes(hn::ScalableTag<double>()), 1, 2}; }
FmaShape shape_f32() { return {chains, hn::Lanes(hn::ScalableTag<float>()), 1, 2}; }
const char* target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace warpmeter
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmeter {

HWY_EXPORT(blocks_f64);
HWY_EXPORT(blocks_f32);
HWY_EXPORT(chain_f64);
HWY_EXPORT(chain_f32);
HWY_EXPORT(shape_f64);
HWY_EXPORT(shape_f32);
HWY_EXPORT(target);

double fma_ops_per_step(const FmaShape& s) {
  return 2.0 * static_cast<double>(s.chains * s.lanes * s.depth);
}

FmaShape fma_shape(FmaType type) {
  if (type != FmaType::f64 && type != FmaType::f32) throw std::invalid_argument("f64 or f32");
  return type == FmaType::f64 ? HWY_DYNAMIC_DISPATCH(shape_f64)()
                              : HWY_DYNAMIC_DISPATCH(shape_f32)();
}

void fma_blocks(const double* start, const double* factor, const double* addend, std::size_t steps,
                std::size_t blocks, double* result) {
  HWY_DYNAMIC_DISPATCH(blocks_f64)(start, factor, addend, steps, blocks, result);
}
void fma_blocks(const float* start, const float* factor, const float* addend, std::size_t steps,
                std::size_t blocks, float* result) {
  HWY_DYNAMIC_DISPATCH(blocks_f32)(start, factor, addend, steps, blocks, result);
}
void fma_chain(const double* start, const double* factor, const double* addend, std::size_t steps,
               double* result) {
  HWY_DYNAMIC_DISPATCH(chain_f64)(start, factor, addend, steps, result);
}
void fma_chain(const float* start, const float* factor, const float* addend, std::size_t steps,
               float* result) {
  HWY_DYNAMIC_DISPATCH(chain_f32)(start, factor, addend, steps, result);
}

std::string vector_target() { return HWY_DYNAMIC_DISPATCH(target)(); }

}  // namespace warpmeter
#endif
