// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cmath>
#include <span>

#include "kernels/llm/gemm_int4.h"
#include "kernels/llm/models.h"
#include "kernels/llm/point_rows.h"
#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

using namespace point_words;

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

constexpr const char* f16 = "f16";

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

// For GPUs only: many tokens, for kernels that need them to fill the tensor cores.
constexpr GemmPoint many_tokens[] = {
    {qwen_down, 64, bf16, hot, quick},        {qwen_down, 2048, bf16, hot, standard},
    {qwen_router, 4096, bf16, hot, standard}, {llama_o, 512, bf16, hot, standard},
    {llama_o, 512, bf16, cold, standard},     {llama_o, 4096, bf16, hot, standard},
    {llama_o, 4096, f16, hot, standard},      {llama_gate_up, 2048, bf16, hot, thorough},
    {qwen_up, 32, bf16, hot, quick},          {qwen_up, 512, bf16, hot, standard},
    {qwen_up, 4096, f16, hot, standard},      {qwen_o, 2048, bf16, hot, standard},
    {llama_qkv, 2048, bf16, hot, standard},   {llama_qkv, 2048, f16, hot, thorough},
    {llama_down, 512, bf16, cold, standard},  {llama_down, 4096, bf16, hot, standard},
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

// All experts of a layer together: config.json of Qwen/Qwen3-30B-A3B, num_experts_per_tok.
constexpr std::int64_t experts_per_token = 8;

struct GroupedPoint {
  const Layer& layer;
  std::int64_t tokens;
  const char* type;
  const char* residency;
  Effort from;
};

constexpr GroupedPoint grouped[] = {
    {qwen_down, 16, bf16, hot, quick},     {qwen_down, 1, bf16, cold, standard},
    {qwen_down, 64, bf16, cold, standard}, {qwen_down, 512, bf16, hot, standard},
    {qwen_down, 2048, f16, hot, standard}, {qwen_down, 4096, bf16, hot, thorough},
    {qwen_up, 16, bf16, hot, quick},       {qwen_up, 4, bf16, cold, standard},
    {qwen_up, 128, bf16, cold, standard},  {qwen_up, 1024, bf16, hot, standard},
    {qwen_up, 1024, f16, hot, standard},   {qwen_up, 4096, bf16, hot, thorough},
};

// How many experts have tokens if each token chooses its own at random: the mean, rounded.
double active_experts(const LlmModel& model, std::int64_t tokens) {
  const auto experts = static_cast<double>(model.experts);
  const double idle =
      std::pow(1 - static_cast<double>(experts_per_token) / experts, static_cast<double>(tokens));
  return std::round(experts * (1 - idle));
}

// The points of bf16, of another type.
std::vector<Parameters> of_type(std::vector<Parameters> points, const char* type) {
  std::erase_if(points, [](const Parameters& point) { return word(point, "type") != bf16; });
  for (Parameters& point : points) point["type"] = type;
  return points;
}

}  // namespace

std::vector<Parameters> gemm_prefill_points(int threads, Effort effort) {
  return gemm_points(prefill, "gemm.prefill", threads, effort);
}

std::vector<Parameters> gemm_decode_points(int threads, Effort effort) {
  return gemm_points(decode, "gemm.decode", threads, effort);
}

std::vector<Parameters> gemm_sm90_points(int threads, Effort effort) {
  return gemm_points(many_tokens, "gemm.sm90", threads, effort);
}

std::vector<Parameters> gemm_fp8_points(int threads, Effort effort) {
  return of_type(gemm_points(many_tokens, "gemm.fp8", threads, effort), "e4m3");
}

std::vector<Parameters> gemm_int8_points(int threads, Effort effort) {
  return of_type(gemm_points(many_tokens, "gemm.int8", threads, effort), "int8");
}

std::vector<Parameters> gemm_grouped_points(int threads, Effort effort) {
  std::vector<Parameters> points;
  for (const GroupedPoint& row : grouped) {
    if (row.from > effort) continue;
    Parameters point = point_of("gemm.grouped", "gemm.grouped", row.layer.model, row.layer.split,
                                row.type, row.residency, threads);
    point["layer"] = row.layer.name;
    point["rows"] = double(row.tokens * experts_per_token);
    point["experts"] = double(row.layer.model.experts);
    point["active"] = active_experts(row.layer.model, row.tokens);
    point["n"] = double(row.layer.n);
    point["k"] = double(row.layer.k);
    points.push_back(std::move(point));
  }
  return points;
}

// Few tokens, as decoding has them; `type` is that of the activations.
std::vector<Parameters> gemm_int4_points(int threads, Effort effort) {
  std::vector<Parameters> points = gemm_points(decode, "gemm.int4", threads, effort);
  for (Parameters& point : points) point["group"] = double(int4_group);
  return points;
}

}  // namespace warpmeter
