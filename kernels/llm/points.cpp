// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/points.h"

#include "kernels/llm/models.h"
#include "kernels/llm/point_rows.h"

namespace warpmeter {
namespace {

using namespace point_words;

// --- attention ---

struct AttentionPoint {
  const LlmModel& model;
  std::int64_t batch, context;
  const char* type;
  const char* residency;
  Effort from;
};

constexpr AttentionPoint attention[] = {
    {llama, 1, 512, f32, hot, quick},       {llama, 1, 512, f32, cold, standard},
    {llama, 1, 512, bf16, hot, standard},   {llama, 8, 512, bf16, hot, standard},
    {llama, 1, 2048, f32, hot, standard},   {llama, 1, 2048, bf16, hot, thorough},
    {llama, 4, 2048, f32, hot, standard},   {llama, 4, 2048, f32, cold, standard},
    {llama, 1, 4096, f32, hot, standard},   {llama, 1, 4096, bf16, hot, thorough},
    {llama, 4, 1024, bf16, cold, standard}, {llama, 4, 4096, f32, hot, thorough},
    {qwen, 1, 1024, f32, hot, quick},       {qwen, 8, 1024, f32, hot, standard},
    {qwen, 8, 1024, bf16, hot, standard},   {qwen, 1, 4096, f32, cold, standard},
    {qwen, 1, 4096, bf16, hot, standard},   {qwen, 16, 4096, bf16, hot, thorough},
};

// --- kernels on rows ---

constexpr RowsPoint softmax[] = {
    {llama, fit, 1, llama.vocabulary, f32, hot, quick},
    {llama, fit, 8, llama.vocabulary, f32, hot, standard},
    {llama, fit, 8, llama.vocabulary, bf16, hot, standard},
    {llama, fit, 32, 2048, f32, hot, standard},
    {llama, fit, 32, 2048, bf16, hot, thorough},
    {llama, fit, 2048, 2048, f32, hot, standard},
    {llama, fit, 8, llama.vocabulary, f32, cold, thorough},
    {qwen, held_out, 1, qwen.vocabulary, f32, hot, thorough},
    {qwen, held_out, 16, qwen.vocabulary, f32, hot, standard},
    {qwen, held_out, 16, qwen.vocabulary, bf16, hot, standard},
    {qwen, held_out, 8, qwen.experts, f32, hot, quick},
    {qwen, held_out, 512, qwen.experts, f32, hot, standard},
    {qwen, held_out, 512, qwen.experts, bf16, hot, thorough},
    {qwen, held_out, 16, qwen.vocabulary, f32, cold, standard},
};

constexpr RowsPoint rms_norm[] = {
    {llama, fit, 1, llama.hidden, f32, hot, quick},
    {llama, fit, 1, llama.hidden, f32, cold, standard},
    {llama, fit, 64, llama.hidden, f32, hot, standard},
    {llama, fit, 64, llama.hidden, bf16, hot, standard},
    {llama, fit, 64, llama.hidden, bf16, cold, thorough},
    {llama, fit, 2048, llama.hidden, f32, hot, standard},
    {llama, fit, 512, llama.hidden, f32, cold, standard},
    {qwen, held_out, 8, qwen.hidden, f32, hot, quick},
    {qwen, held_out, 8, qwen.hidden, f32, cold, standard},
    {qwen, held_out, 256, qwen.hidden, f32, hot, standard},
    {qwen, held_out, 256, qwen.hidden, bf16, hot, standard},
    {qwen, held_out, 256, qwen.hidden, bf16, cold, thorough},
    {qwen, held_out, 2048, qwen.hidden, f32, hot, standard},
    {qwen, held_out, 2048, qwen.hidden, f32, cold, standard},
};

// Tokens; columns are those of the query and key heads together.
constexpr std::int64_t rotated(const LlmModel& m) { return (m.heads + m.kv_heads) * m.head_size; }
constexpr RowsPoint rope[] = {
    {llama, fit, 1, rotated(llama), bf16, hot, quick},
    {llama, fit, 64, rotated(llama), f32, hot, standard},
    {llama, fit, 2048, rotated(llama), bf16, hot, standard},
    {llama, fit, 2048, rotated(llama), bf16, cold, standard},
    {qwen, held_out, 8, rotated(qwen), bf16, hot, quick},
    {qwen, held_out, 1024, rotated(qwen), bf16, hot, standard},
    {qwen, held_out, 2048, rotated(qwen), bf16, cold, standard},
};

constexpr RowsPoint swiglu[] = {
    {llama, fit, 1, llama.intermediate, f32, hot, quick},
    {llama, fit, 1, llama.intermediate, bf16, hot, thorough},
    {llama, fit, 16, llama.intermediate, f32, hot, standard},
    {llama, fit, 256, llama.intermediate, f32, hot, standard},
    {llama, fit, 256, llama.intermediate, bf16, hot, standard},
    {llama, fit, 256, llama.intermediate, f32, cold, standard},
    {qwen, held_out, 8, qwen.intermediate, f32, hot, quick},
    {qwen, held_out, 8, qwen.intermediate, bf16, hot, thorough},
    {qwen, held_out, 256, qwen.intermediate, f32, hot, standard},
    {qwen, held_out, 4096, qwen.intermediate, f32, hot, standard},
    {qwen, held_out, 4096, qwen.intermediate, bf16, hot, standard},
    {qwen, held_out, 4096, qwen.intermediate, f32, cold, standard},
};

constexpr RowsPoint gather[] = {
    {llama, fit, 1, llama.hidden, bf16, cold, standard},
    {llama, fit, 32, llama.hidden, f32, hot, quick},
    {llama, fit, 32, llama.hidden, f32, cold, standard},
    {llama, fit, 128, llama.hidden, bf16, hot, standard},
    {llama, fit, 128, llama.hidden, bf16, cold, standard},
    {llama, fit, 512, llama.hidden, f32, cold, thorough},
    {qwen, held_out, 8, qwen.hidden, f32, hot, quick},
    {qwen, held_out, 8, qwen.hidden, f32, cold, standard},
    {qwen, held_out, 128, qwen.hidden, f32, hot, standard},
    {qwen, held_out, 128, qwen.hidden, f32, cold, standard},
    {qwen, held_out, 128, qwen.hidden, bf16, cold, standard},
};

}  // namespace

std::vector<Parameters> attention_points(int threads, Effort effort) {
  std::vector<Parameters> points;
  for (const AttentionPoint& row : attention) {
    if (row.from > effort) continue;
    // Held out: the whole MoE model, and whole contexts of the other one.
    const bool fits = &row.model == &llama && (row.context == 512 || row.context == 2048);
    Parameters point = point_of("attention.decode", "attention.decode", row.model,
                                fits ? fit : held_out, row.type, row.residency, threads);
    point["batch"] = double(row.batch);
    point["context"] = double(row.context);
    point["heads"] = double(row.model.heads);
    point["kv_heads"] = double(row.model.kv_heads);
    point["head_size"] = double(row.model.head_size);
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<Parameters> softmax_points(int threads, Effort effort) {
  return rows_points(softmax, "softmax", "softmax", threads, effort);
}

std::vector<Parameters> rms_norm_points(int threads, Effort effort) {
  return rows_points(rms_norm, "rms_norm", "norm", threads, effort);
}

std::vector<Parameters> swiglu_points(int threads, Effort effort) {
  return rows_points(swiglu, "swiglu", "swiglu", threads, effort);
}

std::vector<Parameters> rope_points(int threads, Effort effort) {
  std::vector<Parameters> points = rows_points(rope, "rope", "rope", threads, effort);
  for (Parameters& point : points) {
    const LlmModel& model = *word(point, "model") == llama.name ? llama : qwen;
    point.erase("columns");
    point["heads"] = double(model.heads + model.kv_heads);
    point["head_size"] = double(model.head_size);
  }
  return points;
}

std::vector<Parameters> gather_points(int threads, Effort effort) {
  std::vector<Parameters> points = rows_points(gather, "gather", "gather", threads, effort);
  for (Parameters& point : points)
    point["vocabulary"] =
        double(*word(point, "model") == llama.name ? llama.vocabulary : qwen.vocabulary);
  return points;
}

}  // namespace warpmeter
