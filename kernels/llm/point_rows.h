// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <span>
#include <vector>

#include "core/benchmark.h"
#include "kernels/llm/models.h"

namespace warpmeter {

// The words of the tables of points.
namespace point_words {
constexpr Effort quick = Effort::quick, standard = Effort::standard, thorough = Effort::thorough;
constexpr const char *f32 = "f32", *bf16 = "bf16", *hot = "hot", *cold = "cold";
constexpr const char *fit = "fit", *held_out = "held_out";
inline constexpr const LlmModel& llama = llama3_8b;
inline constexpr const LlmModel& qwen = qwen3_30b_a3b;
}  // namespace point_words

// What every point says.
Parameters point_of(const char* kernel, const char* family, const LlmModel& model,
                    const char* split, const char* type, const char* residency, int threads);

// One row-wise shape. Its group is (model, columns).
struct RowsPoint {
  const LlmModel& model;
  const char* split;
  std::int64_t rows, columns;
  const char* type;
  const char* residency;
  Effort from;
};

// The points of `rows` up to `effort`, with `rows` and `columns`.
std::vector<Parameters> rows_points(std::span<const RowsPoint> rows, const char* kernel,
                                    const char* family, int threads, Effort effort);

}  // namespace warpmeter
