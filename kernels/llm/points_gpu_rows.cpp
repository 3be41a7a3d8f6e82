// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/point_rows.h"
#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

using namespace point_words;

constexpr RowsPoint rms_norm_residual[] = {
    {llama, fit, 1, llama.hidden, bf16, hot, quick},
    {llama, fit, 64, llama.hidden, bf16, cold, standard},
    {llama, fit, 64, llama.hidden, f32, hot, standard},
    {llama, fit, 2048, llama.hidden, bf16, hot, standard},
    {llama, fit, 2048, llama.hidden, bf16, cold, thorough},
    {qwen, held_out, 8, qwen.hidden, bf16, hot, quick},
    {qwen, held_out, 256, qwen.hidden, bf16, cold, standard},
    {qwen, held_out, 2048, qwen.hidden, bf16, hot, standard},
};

// Of layer_norm and layer_norm.residual.
constexpr const LlmModel& starcoder = starcoder2_7b;
constexpr const LlmModel& smaller = starcoder2_3b;
constexpr RowsPoint layer_norm[] = {
    {starcoder, fit, 1, starcoder.hidden, bf16, hot, quick},
    {starcoder, fit, 64, starcoder.hidden, f32, hot, standard},
    {starcoder, fit, 64, starcoder.hidden, bf16, cold, standard},
    {starcoder, fit, 2048, starcoder.hidden, bf16, hot, standard},
    {smaller, held_out, 8, smaller.hidden, bf16, hot, quick},
    {smaller, held_out, 256, smaller.hidden, bf16, cold, standard},
    {smaller, held_out, 2048, smaller.hidden, bf16, hot, standard},
};

// Of geglu and geglu.packed.
constexpr RowsPoint geglu[] = {
    {gemma_2b, fit, 1, gemma_2b.intermediate, bf16, hot, quick},
    {gemma_2b, fit, 64, gemma_2b.intermediate, f32, hot, standard},
    {gemma_2b, fit, 256, gemma_2b.intermediate, bf16, cold, standard},
    {gemma_2b, fit, 2048, gemma_2b.intermediate, bf16, hot, standard},
    {gemma_7b, held_out, 8, gemma_7b.intermediate, bf16, hot, quick},
    {gemma_7b, held_out, 256, gemma_7b.intermediate, bf16, cold, standard},
    {gemma_7b, held_out, 1024, gemma_7b.intermediate, bf16, hot, standard},
};

// Of quantize.token and quantize.block: inputs of the QKV and of the down product.
constexpr RowsPoint quantize[] = {
    {llama, fit, 1, llama.hidden, bf16, hot, quick},
    {llama, fit, 64, llama.intermediate, bf16, cold, standard},
    {llama, fit, 2048, llama.hidden, bf16, hot, standard},
    {llama, fit, 2048, llama.intermediate, bf16, hot, thorough},
    {qwen, held_out, 8, qwen.hidden, bf16, hot, quick},
    {qwen, held_out, 256, qwen.hidden, bf16, cold, standard},
    {qwen, held_out, 4096, qwen.intermediate, bf16, hot, standard},
};

// Its group is the model; temperature, top_k and top_p are those of generation_config.json of
// meta-llama/Meta-Llama-3-8B and Qwen/Qwen3-30B-A3B, or all kept.
struct SamplePoint {
  const LlmModel& model;
  const char* split;
  std::int64_t rows;
  double temperature;
  int top_k;
  double top_p;
  const char* residency;
  Effort from;
};
constexpr SamplePoint sample[] = {
    {llama, fit, 1, 0.6, 0, 0.9, hot, quick},
    {llama, fit, 64, 0.6, 0, 0.9, hot, standard},
    {llama, fit, 64, 1, 0, 1, cold, standard},
    {qwen, held_out, 8, 0.6, 20, 0.95, hot, quick},
    {qwen, held_out, 64, 0.6, 20, 0.95, cold, standard},
    {qwen, held_out, 256, 0.6, 20, 0.95, hot, thorough},
};

// Tokens of `batch` sequences, equally many each. Its group is the model.
struct KvAppendPoint {
  const LlmModel& model;
  const char* split;
  std::int64_t rows, batch;
  const char* cache;
  const char* residency;
  Effort from;
};
constexpr const char* e4m3 = "e4m3";
constexpr KvAppendPoint kv_append[] = {
    {llama, fit, 64, 64, bf16, hot, quick},
    {llama, fit, 64, 64, e4m3, cold, standard},
    {llama, fit, 2048, 1, bf16, cold, standard},
    {llama, fit, 2048, 1, e4m3, hot, standard},
    {qwen, held_out, 8, 8, bf16, hot, quick},
    {qwen, held_out, 256, 256, bf16, cold, standard},
    {qwen, held_out, 4096, 4, e4m3, hot, standard},
};

}  // namespace

std::vector<Parameters> sample_points(int threads, Effort effort) {
  std::vector<Parameters> points;
  for (const SamplePoint& row : sample) {
    if (row.from > effort) continue;
    Parameters point =
        point_of("sample", "sample", row.model, row.split, f32, row.residency, threads);
    point["rows"] = double(row.rows);
    point["vocabulary"] = double(row.model.vocabulary);
    point["temperature"] = row.temperature;
    point["top_k"] = double(row.top_k);
    point["top_p"] = row.top_p;
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<Parameters> kv_append_points(int threads, Effort effort) {
  std::vector<Parameters> points;
  for (const KvAppendPoint& row : kv_append) {
    if (row.from > effort) continue;
    Parameters point =
        point_of("kv_append", "kv_append", row.model, row.split, bf16, row.residency, threads);
    point["cache"] = row.cache;
    point["rows"] = double(row.rows);
    point["batch"] = double(row.batch);
    point["heads"] = double(row.model.heads);
    point["kv_heads"] = double(row.model.kv_heads);
    point["head_size"] = double(row.model.head_size);
    point["page_size"] = 16.0;
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<Parameters> swiglu_packed_points(int threads, Effort effort) {
  std::vector<Parameters> points = swiglu_points(threads, effort);
  for (Parameters& point : points) point["kernel"] = "swiglu.packed";
  return points;
}

std::vector<Parameters> geglu_points(int threads, Effort effort) {
  return rows_points(geglu, "geglu", "geglu", threads, effort);
}

std::vector<Parameters> geglu_packed_points(int threads, Effort effort) {
  return rows_points(geglu, "geglu.packed", "geglu", threads, effort);
}

std::vector<Parameters> quantize_token_points(int threads, Effort effort) {
  return rows_points(quantize, "quantize.token", "quantize", threads, effort);
}

std::vector<Parameters> quantize_block_points(int threads, Effort effort) {
  return rows_points(quantize, "quantize.block", "quantize", threads, effort);
}

std::vector<Parameters> rope_packed_points(int threads, Effort effort) {
  std::vector<Parameters> points = rope_points(threads, effort);
  for (Parameters& point : points) {
    point["kernel"] = "rope.packed";
    point["stride"] = double(qkv_columns(*word(point, "model") == llama.name ? llama : qwen));
  }
  return points;
}

std::vector<Parameters> rms_norm_residual_points(int threads, Effort effort) {
  return rows_points(rms_norm_residual, "rms_norm.residual", "norm", threads, effort);
}

std::vector<Parameters> layer_norm_points(int threads, Effort effort) {
  return rows_points(layer_norm, "layer_norm", "norm", threads, effort);
}

std::vector<Parameters> layer_norm_residual_points(int threads, Effort effort) {
  return rows_points(layer_norm, "layer_norm.residual", "norm", threads, effort);
}

}  // namespace warpmeter
