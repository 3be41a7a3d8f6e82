// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/moe_points.h"

#include <span>

#include "kernels/llm/point_rows.h"
#include "kernels/llm/point_shapes.h"

namespace warpmeter {
namespace {

using namespace point_words;

struct MoeModel {
  LlmModel model;
  std::int64_t top;  // experts per token
  const char* split;
};

// config.json of Qwen/Qwen3-30B-A3B: num_experts_per_tok.
constexpr MoeModel qwen_moe = {qwen3_30b_a3b, 8, fit};

// config.json of mistralai/Mixtral-8x7B-v0.1: hidden_size, intermediate_size, num_attention_heads,
// num_key_value_heads, head size = hidden_size / heads, num_local_experts, vocab_size,
// num_experts_per_tok.
constexpr MoeModel mixtral = {{"Mixtral-8x7B", 4096, 14336, 32, 8, 128, 8, 32000}, 2, held_out};

struct MoePoint {
  const MoeModel& moe;
  std::int64_t tokens;
  const char* type;
  const char* residency;
  Effort from;
};

constexpr MoePoint route[] = {
    {qwen_moe, 1, f32, hot, quick},       {qwen_moe, 64, bf16, hot, standard},
    {qwen_moe, 4096, f32, hot, standard}, {qwen_moe, 4096, f32, cold, standard},
    {mixtral, 8, f32, hot, quick},        {mixtral, 1024, bf16, hot, standard},
    {mixtral, 4096, f32, hot, standard},  {mixtral, 4096, f32, cold, thorough},
};

constexpr MoePoint permute[] = {
    {qwen_moe, 1, bf16, hot, standard},    {qwen_moe, 32, bf16, hot, quick},
    {qwen_moe, 4096, bf16, hot, standard}, {qwen_moe, 4096, bf16, cold, standard},
    {mixtral, 8, bf16, hot, quick},        {mixtral, 2048, bf16, hot, standard},
    {mixtral, 2048, bf16, cold, standard}, {mixtral, 2048, f32, hot, thorough},
};

std::vector<Parameters> points(std::span<const MoePoint> rows, const char* kernel, int threads,
                               Effort effort) {
  std::vector<Parameters> points;
  for (const MoePoint& row : rows) {
    if (row.from > effort) continue;
    Parameters point =
        point_of(kernel, kernel, row.moe.model, row.moe.split, row.type, row.residency, threads);
    point["rows"] = double(row.tokens);
    point["experts"] = double(row.moe.model.experts);
    point["top"] = double(row.moe.top);
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<Parameters> rows_of_experts(const char* kernel, int threads, Effort effort) {
  std::vector<Parameters> result = points(permute, kernel, threads, effort);
  for (Parameters& point : result) {
    const MoeModel& moe = *word(point, "model") == mixtral.model.name ? mixtral : qwen_moe;
    point["columns"] = double(moe.model.hidden);
    point["multiple"] = 1.0;
  }
  return result;
}

}  // namespace

std::vector<Parameters> moe_route_points(int threads, Effort effort) {
  return points(route, "moe.route", threads, effort);
}

std::vector<Parameters> moe_permute_points(int threads, Effort effort) {
  std::vector<Parameters> result = rows_of_experts("moe.permute", threads, effort);
  // As a grouped matrix product with tiles of 128 rows wants it.
  if (effort == Effort::thorough)
    for (const Parameters& point : rows_of_experts("moe.permute", threads, Effort::standard)) {
      if (*number(point, "rows") < 1024) continue;
      result.push_back(point);
      result.back()["multiple"] = 128.0;
    }
  return result;
}

std::vector<Parameters> moe_unpermute_points(int threads, Effort effort) {
  return rows_of_experts("moe.unpermute", threads, effort);
}

RouteShape route_shape(const Parameters& p) {
  return {count(p, "rows"), count(p, "experts"), count(p, "top"), type_of(p)};
}

PermuteShape permute_shape(const Parameters& p) {
  return {count(p, "rows"),    count(p, "experts"),  count(p, "top"),
          count(p, "columns"), count(p, "multiple"), type_of(p)};
}

}  // namespace warpmeter
