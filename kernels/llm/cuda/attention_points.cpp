// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/attention_points.h"

#include <span>

#include "kernels/llm/attention_shapes.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/point_rows.h"
#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

using namespace point_words;

constexpr const char* e4m3 = "e4m3";
constexpr double default_page = 16;

struct AttentionPoint {
  const LlmModel& model;
  std::int64_t batch, context;
  const char* type;
  const char* residency;
  Effort from;
};

constexpr AttentionPoint prefill[] = {
    {gemma_2b, 1, 512, bf16, hot, standard},
    {gemma_2b, 1, 2048, bf16, hot, standard},
    {gemma_2b, 1, 1024, bf16, hot, standard},
    {gemma_2b, 1, 4096, bf16, cold, thorough},
};

struct DecodePoint {
  AttentionPoint point;
  std::int64_t page;
  const char* cache;
};

constexpr DecodePoint decode[] = {
    {{llama, 1, 512, bf16, hot, quick}, 16, e4m3},
    {{llama, 8, 2048, bf16, hot, standard}, 16, e4m3},
    {{llama, 4, 2048, bf16, cold, standard}, 16, e4m3},
    {{llama, 4, 2048, bf16, cold, standard}, 64, bf16},
    {{llama, 4, 4096, bf16, hot, standard}, 16, e4m3},
    {{llama, 4, 1024, bf16, cold, thorough}, 16, e4m3},
    {{qwen, 8, 1024, bf16, hot, standard}, 16, e4m3},
    {{qwen, 16, 4096, bf16, hot, thorough}, 64, e4m3},
    {{gemma_2b, 8, 2048, bf16, cold, standard}, 16, bf16},
    {{gemma_2b, 16, 512, bf16, hot, standard}, 16, bf16},
    {{gemma_2b, 8, 4096, bf16, cold, standard}, 16, bf16},
    {{gemma_2b, 8, 4096, bf16, cold, thorough}, 16, e4m3},
};

struct MlaPoint {
  std::int64_t batch, heads, context;
  const char* residency;
  Effort from;
};

constexpr MlaPoint mla[] = {
    {1, 16, 2048, hot, quick},      {1, 16, 1024, hot, quick},     {8, 16, 2048, cold, standard},
    {64, 16, 2048, hot, standard},  {1, 128, 2048, hot, standard}, {32, 128, 2048, cold, standard},
    {8, 16, 4096, cold, standard},  {64, 16, 4096, hot, standard}, {1, 128, 4096, hot, standard},
    {32, 128, 4096, hot, standard}, {64, 128, 512, hot, thorough}, {8, 128, 1024, cold, thorough},
};

const char* split_of(const LlmModel& model, std::int64_t context) {
  return &model != &qwen && (context == 512 || context == 2048) ? fit : held_out;
}

Parameters attention_point(const char* kernel, const AttentionPoint& row, int threads) {
  Parameters point = point_of(kernel, kernel, row.model, split_of(row.model, row.context), row.type,
                              row.residency, threads);
  point["batch"] = double(row.batch);
  point["context"] = double(row.context);
  point["heads"] = double(row.model.heads);
  point["kv_heads"] = double(row.model.kv_heads);
  point["head_size"] = double(row.model.head_size);
  return point;
}

}  // namespace

std::vector<Parameters> attention_prefill_points(int threads, Effort effort) {
  std::vector<Parameters> points = half_type_points<attention_points>(threads, effort);
  for (Parameters& point : points) point["kernel"] = point["family"] = "attention.prefill";
  for (const AttentionPoint& row : prefill)
    if (row.from <= effort) points.push_back(attention_point("attention.prefill", row, threads));
  return points;
}

std::vector<Parameters> attention_sm90_points(int threads, Effort effort) {
  std::vector<Parameters> points = attention_prefill_points(threads, effort);
  std::erase_if(points, [](const Parameters& p) { return number(p, "head_size") != 128; });
  for (Parameters& point : points) point["kernel"] = point["family"] = "attention.sm90";
  return points;
}

std::vector<Parameters> attention_decode_points(int threads, Effort effort) {
  std::vector<Parameters> points = half_type_points<attention_points>(threads, effort);
  for (Parameters& point : points) {
    point["page"] = default_page;
    point["cache"] = *word(point, "type");
  }
  for (const DecodePoint& row : decode) {
    if (row.point.from > effort) continue;
    points.push_back(attention_point("attention.decode", row.point, threads));
    points.back()["page"] = double(row.page);
    points.back()["cache"] = row.cache;
  }
  return points;
}

std::vector<Parameters> attention_mla_points(int threads, Effort effort) {
  std::vector<Parameters> points;
  for (const MlaPoint& row : mla) {
    if (row.from > effort) continue;
    Parameters point = point_of("attention.mla", "attention.mla", deepseek_v3,
                                split_of(deepseek_v3, row.context), bf16, row.residency, threads);
    point["batch"] = double(row.batch);
    point["heads"] = double(row.heads);
    point["context"] = double(row.context);
    point["kv_rank"] = double(mla_rank);
    point["rope_size"] = double(mla_rope);
    point["page"] = 64.0;
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace warpmeter
