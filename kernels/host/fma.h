// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warpmeter {

enum class FmaType { f64, f32, bf16, int8 };

// The register tile of a multiply-add loop: `chains` accumulator vectors of `lanes` lanes, each fed
// by one of `factors` vectors. An accumulator lane takes `depth` products per step (bf16: 2 pairs,
// int8: 4 pairs), so a step of the whole tile is 2 * chains * lanes * depth operations.
struct FmaShape {
  std::size_t chains = 0;
  std::size_t lanes = 0;
  std::size_t depth = 1;
  std::size_t factors = 0;  // vectors of multiplicands
};

double fma_ops_per_step(const FmaShape& shape);

// f64 and f32, with the widest vectors of this CPU:
//   accumulator[i] = accumulator[i] * factor[i mod 2] + addend   for every chain i, `steps` times.
// Factors near -1 keep the accumulators of full entropy and bounded. Each block starts again from
// `start`, outside of the inner loop, which holds multiply-adds on registers only.
//   start: chains * lanes, factor: 2 * lanes, addend: lanes; result: chains * lanes, of the last
//   block. All aligned to 64 bytes.
FmaShape fma_shape(FmaType type);  // f64 or f32
void fma_blocks(const double* start, const double* factor, const double* addend, std::size_t steps,
                std::size_t blocks, double* result);
void fma_blocks(const float* start, const float* factor, const float* addend, std::size_t steps,
                std::size_t blocks, float* result);

// The same recurrence with one chain (factor: lanes): the latency of a multiply-add. `steps` is a
// multiple of 16.
void fma_chain(const double* start, const double* factor, const double* addend, std::size_t steps,
               double* result);
void fma_chain(const float* start, const float* factor, const float* addend, std::size_t steps,
               float* result);

// Name of the vector extension that these functions use here, as in "AVX3" (AVX-512).
std::string vector_target();

// Dot products in AVX-512: accumulator[i] += sum over depth of left[i mod 4] * right[(i / 4) mod
// 4].
//   bf16: 16 float lanes, left and right 4 x 32 values (VDPBF16PS)
//   int8: 16 int32 lanes, left 4 x 64 unsigned, right 4 x 64 signed bytes (VPDPBUSD, wraps)
// Blocks, start and result as above. Only where has_dot(type); elsewhere an illegal instruction.
bool has_dot(FmaType type);        // asks the CPU and the operating system
FmaShape dot_shape(FmaType type);  // bf16 or int8
void dot_blocks(const float* start, const std::uint16_t* left, const std::uint16_t* right,
                std::size_t steps, std::size_t blocks, float* result);
void dot_blocks(const std::int32_t* start, const std::uint8_t* left, const std::int8_t* right,
                std::size_t steps, std::size_t blocks, std::int32_t* result);

}  // namespace warpmeter
