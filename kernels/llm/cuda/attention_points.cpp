// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/attention_points.h"

#include <span>

#include "kernels/llm/cuda/row.h"
#include "kernels/llm/point_rows.h"
#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

using namespace point_words;

constexpr const char* e4m3 = "e4m3";
constexpr double default_page = 16;

struct DecodePoint {
  const LlmModel& model;
  std::int64_t batch, context, page;
  const char* cache;
  const char* residency;
  Effort from;
};

constexpr DecodePoint decode[] = {
    {llama, 1, 512, 16, e4m3, hot, quick},      {llama, 8, 2048, 16, e4m3, hot, standard},
    {llama, 4, 2048, 16, e4m3, cold, standard}, {llama, 4, 2048, 64, bf16, cold, standard},
    {llama, 4, 4096, 16, e4m3, hot, standard},  {llama, 4, 1024, 16, e4m3, cold, thorough},
    {qwen, 8, 1024, 16, e4m3, hot, standard},   {qwen, 16, 4096, 64, e4m3, hot, thorough},
};

const char* split_of(const LlmModel& model, std::int64_t context) {
  return &model != &qwen && (context == 512 || context == 2048) ? fit : held_out;
}

Parameters decode_point(const DecodePoint& row, int threads) {
  Parameters point = point_of("attention.decode", "attention.decode", row.model,
                              split_of(row.model, row.context), bf16, row.residency, threads);
  point["batch"] = double(row.batch);
  point["context"] = double(row.context);
  point["heads"] = double(row.model.heads);
  point["kv_heads"] = double(row.model.kv_heads);
  point["head_size"] = double(row.model.head_size);
  point["page"] = double(row.page);
  point["cache"] = row.cache;
  return point;
}

}  // namespace

std::vector<Parameters> attention_prefill_points(int threads, Effort effort) {
  std::vector<Parameters> points = half_type_points<attention_points>(threads, effort);
  for (Parameters& point : points) point["kernel"] = point["family"] = "attention.prefill";
  return points;
}

std::vector<Parameters> attention_decode_points(int threads, Effort effort) {
  std::vector<Parameters> points = half_type_points<attention_points>(threads, effort);
  for (Parameters& point : points) {
    point["page"] = default_page;
    point["cache"] = *word(point, "type");
  }
  for (const DecodePoint& row : decode)
    if (row.from <= effort) points.push_back(decode_point(row, threads));
  return points;
}

}  // namespace warpmeter
