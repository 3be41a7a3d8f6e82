// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Highway 1.0.3 has no operation for these two instructions, so they are intrinsics here.
#include <immintrin.h>

#include <stdexcept>

#include "kernels/host/fma.h"

namespace warpmeter {

namespace {

constexpr std::size_t dot_chains = 20;  // 20 accumulators and 8 factors of 32 registers

}  // namespace

bool has_dot(FmaType type) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx512f")) return false;
  if (type == FmaType::bf16) return __builtin_cpu_supports("avx512bf16");
  return type == FmaType::int8 && __builtin_cpu_supports("avx512vnni");
}

FmaShape dot_shape(FmaType type) {
  if (type == FmaType::bf16) return {dot_chains, 16, 2, 4};
  if (type == FmaType::int8) return {dot_chains, 16, 4, 4};
  throw std::invalid_argument("bf16 or int8");
}

__attribute__((target("avx512f,avx512bf16"))) void dot_blocks(const float* start,
                                                              const std::uint16_t* left,
                                                              const std::uint16_t* right,
                                                              std::size_t steps, std::size_t blocks,
                                                              float* result) {
  __m512bh a[4], b[4];
  for (int i = 0; i < 4; ++i) {
    a[i] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(left + 32 * i));
    b[i] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right + 32 * i));
  }
  for (; blocks != 0; --blocks) {
    __m512 sum[dot_chains];
#pragma GCC unroll 20
    for (std::size_t i = 0; i < dot_chains; ++i) sum[i] = _mm512_loadu_ps(start + 16 * i);
    for (std::size_t step = steps; step != 0; --step) {
#pragma GCC unroll 20
      for (std::size_t i = 0; i < dot_chains; ++i)
        sum[i] = _mm512_dpbf16_ps(sum[i], a[i % 4], b[i / 4 % 4]);
    }
#pragma GCC unroll 20
    for (std::size_t i = 0; i < dot_chains; ++i) _mm512_storeu_ps(result + 16 * i, sum[i]);
    asm volatile("" ::: "memory");  // every block counts, not only the last one
  }
}

__attribute__((target("avx512f,avx512vnni"))) void dot_blocks(const std::int32_t* start,
                                                              const std::uint8_t* left,
                                                              const std::int8_t* right,
                                                              std::size_t steps, std::size_t blocks,
                                                              std::int32_t* result) {
  __m512i a[4], b[4];
  for (int i = 0; i < 4; ++i) {
    a[i] = _mm512_loadu_si512(left + 64 * i);
    b[i] = _mm512_loadu_si512(right + 64 * i);
  }
  for (; blocks != 0; --blocks) {
    __m512i sum[dot_chains];
#pragma GCC unroll 20
    for (std::size_t i = 0; i < dot_chains; ++i) sum[i] = _mm512_loadu_si512(start + 16 * i);
    for (std::size_t step = steps; step != 0; --step) {
#pragma GCC unroll 20
      for (std::size_t i = 0; i < dot_chains; ++i)
        sum[i] = _mm512_dpbusd_epi32(sum[i], a[i % 4], b[i / 4 % 4]);
    }
#pragma GCC unroll 20
    for (std::size_t i = 0; i < dot_chains; ++i) _mm512_storeu_si512(result + 16 * i, sum[i]);
    asm volatile("" ::: "memory");  // every block counts, not only the last one
  }
}

}  // namespace warpmeter
