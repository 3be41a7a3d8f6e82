// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/points.h"

#include <span>

#include "kernels/llm/models.h"
#include "kernels/llm/point_rows.h"

namespace warpmeter {
namespace {

using namespace point_words;

// --- GEMM ---

// A linear map of a model. The split belongs to the map, so its (n, k) is on one side in both GEMM
// families, all types and all m.
struct Layer {
  const LlmModel& model;
  const char* name;
  std::int64_t n, k;
  const char* split;
};

constexpr Layer llama_qkv = {llama, "qkv", qkv_columns(llama), llama.hidden, held_out};
constexpr Layer llama_o = {llama, "attention_output", llama.hidden, attention_columns(llama), fit};
constexpr Layer llama_down = {llama, "ffn_down", llama.hidden, llama.intermediate, held_out};
constexpr Layer llama_gate_up = {llama, "ffn_gate_up", 2 * llama.intermediate, llama.hidden, fit};
constexpr Layer qwen_o = {qwen, "attention_output", qwen.hidden, attention_columns(qwen), held_out};
constexpr Layer qwen_router = {qwen, "router", qwen.experts, qwen.hidden, fit};
constexpr Layer qwen_up = {qwen, "expert_gate_up", 2 * qwen.intermediate, qwen.hidden, held_out};
constexpr Layer qwen_down = {qwen, "expert_down", qwen.hidden, qwen.intermediate, fit};

struct GemmPoint {
  const Layer& layer;
  std::int64_t m;
  const char* type;
  const char* residency;
  Effort from;
};

constexpr GemmPoint prefill[] = {
    {llama_o, 64, f32, hot, standard},         {llama_o, 64, bf16, hot, standard},
    {llama_o, 256, f32, hot, standard},        {llama_o, 256, bf16, hot, thorough},
    {llama_o, 512, f32, hot, thorough},        {llama_o, 512, bf16, hot, thorough},
    {llama_gate_up, 128, bf16, hot, thorough}, {qwen_router, 256, f32, hot, standard},
    {qwen_router, 256, bf16, hot, thorough},   {qwen_down, 64, f32, hot, quick},
    {qwen_down, 64, bf16, hot, thorough},      {qwen_down, 512, f32, hot, standard},
    {qwen_down, 512, bf16, hot, standard},     {llama_qkv, 128, f32, hot, standard},
    {llama_qkv, 128, bf16, hot, standard},     {llama_down, 64, bf16, hot, thorough},
    {llama_down, 128, f32, hot, thorough},     {qwen_o, 128, f32, hot, standard},
    {qwen_o, 128, bf16, hot, thorough},        {qwen_up, 32, f32, hot, quick},
    {qwen_up, 32, bf16, hot, thorough},        {qwen_up, 512, f32, hot, standard},
    {qwen_up, 512, bf16, hot, standard},
};

constexpr GemmPoint decode[] = {
    {llama_o, 1, f32, hot, standard},        {llama_o, 1, f32, cold, standard},
    {llama_o, 1, bf16, hot, standard},       {llama_o, 1, bf16, cold, standard},
    {llama_o, 16, f32, hot, standard},       {llama_o, 16, bf16, hot, standard},
    {llama_o, 16, f32, cold, thorough},      {llama_o, 16, bf16, cold, thorough},
    {llama_gate_up, 1, bf16, hot, thorough}, {qwen_router, 1, f32, hot, standard},
    {qwen_router, 1, bf16, hot, standard},   {qwen_router, 1, f32, cold, standard},
    {qwen_router, 32, f32, hot, standard},   {qwen_down, 1, f32, hot, quick},
    {qwen_down, 1, f32, cold, standard},     {qwen_down, 1, bf16, hot, standard},
    {qwen_down, 1, bf16, cold, standard},    {qwen_down, 8, f32, hot, standard},
    {qwen_down, 8, bf16, hot, thorough},     {qwen_down, 64, f32, cold, thorough},
    {llama_down, 1, bf16, hot, standard},    {llama_down, 1, bf16, cold, standard},
    {llama_down, 1, f32, cold, thorough},    {llama_qkv, 4, f32, cold, standard},
    {llama_qkv, 4, bf16, hot, standard},     {llama_qkv, 64, bf16, hot, thorough},
    {qwen_o, 4, f32, hot, standard},         {qwen_o, 4, f32, cold, standard},
    {qwen_o, 4, bf16, hot, thorough},        {qwen_up, 2, f32, hot, standard},
    {qwen_up, 2, f32, cold, quick},          {qwen_up, 2, bf16, hot, standard},
    {qwen_up, 2, bf16, cold, thorough},      {qwen_up, 32, f32, hot, thorough},
    {qwen_up, 32, bf16, hot, thorough},      {qwen_up, 32, f32, cold, thorough},
};

std::vector<Parameters> gemm_points(std::span<const GemmPoint> rows, const char* family,
                                    int threads, Effort effort) {
  std::vector<Parameters> points;
  for (const GemmPoint& row : rows) {
    if (row.from > effort) continue;
    Parameters point = point_of(family, family, row.layer.model, row.layer.split, row.type,
                                row.residency, threads);
    point["layer"] = row.layer.name;
    point["m"] = double(row.m);
    point["n"] = double(row.layer.n);
    point["k"] = double(row.layer.k);
    points.push_back(std::move(point));
  }
  return points;
}

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

std::vector<Parameters> gemm_prefill_points(int threads, Effort effort) {
  return gemm_points(prefill, "gemm.prefill", threads, effort);
}

std::vector<Parameters> gemm_decode_points(int threads, Effort effort) {
  return gemm_points(decode, "gemm.decode", threads, effort);
}

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
