// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace warpmeter {

// bf16 as the upper half of an f32; the value must be representable.
std::uint16_t to_bf16(float value);
float from_bf16(std::uint16_t bits);

// Matrices of mma.sync m16n8k16, row major: a[16 x 16], b[16 x 8], c[16 x 8].
using MatrixA = std::array<float, 16 * 16>;
using MatrixB = std::array<float, 16 * 8>;
using MatrixC = std::array<float, 16 * 8>;

// The registers of the 32 lanes in the layout of the PTX manual ("Matrix Fragments for
// mma.m16n8k16 with floating point type"): 4 words per lane for a, 2 for b.
std::vector<std::uint32_t> fragments_a(const MatrixA& a);
std::vector<std::uint32_t> fragments_b(const MatrixB& b);

// The matrix from 4 floats per lane.
MatrixC matrix_c(const float* fragments);

}  // namespace warpmeter
