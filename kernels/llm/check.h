// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/llm/operand.h"

namespace warpmeter {

// Throws std::runtime_error("corrupt: ...") unless |actual - expected| <= tolerance (NaN throws).
void require_close(const char* what, std::int64_t index, double actual, double expected,
                   double tolerance);

// Throws std::runtime_error("corrupt: ...") if an element is NaN: never written after poison().
void require_written(const Operand& output);

// All of 0 .. count-1 if they are at most `limit`; else the first, the last and random ones between
// them, `limit` in all, by rising value.
std::vector<std::int64_t> sampled(std::int64_t count, std::int64_t limit, std::uint32_t seed);

// Bound of the rounding error of a sum of `count` products in f32, over the sum of their
// magnitudes: lambda sqrt(count) u with lambda = 4. Independent rounding errors of a plain
// recursive sum exceed it with a probability of at most 2 exp(-lambda^2 / 2) = 7e-4 per element
// (Higham and Mary, SIAM J. Sci. Comput. 41 (2019) A2815); blocked and vectorised sums stay far
// below.
double sum_roundoff(std::int64_t count);

// Relative error allowed for f32 results that went through a library's exponential.
inline constexpr double exp_error = 1e-5;

// What storing as `type` may add, relative to the value; f32 is covered by the other terms.
double store_roundoff(Element type);

// And what it may add whatever the value: half a step of f16's subnormal numbers, which begin at
// 2^-14; those of f32 and bf16 lie below all results here.
constexpr double store_floor(Element type) { return type == Element::f16 ? 0x1p-25 : 0.0; }

}  // namespace warpmeter
