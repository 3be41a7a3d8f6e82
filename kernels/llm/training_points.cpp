// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/training_points.h"

#include "kernels/llm/point_rows.h"

namespace warpmeter {
namespace {

using namespace point_words;

constexpr RowsPoint rms_norm_backward[] = {
    {llama, fit, 64, llama.hidden, bf16, hot, quick},
    {llama, fit, 2048, llama.hidden, bf16, hot, standard},
    {llama, fit, 8192, llama.hidden, bf16, cold, standard},
    {llama, fit, 2048, llama.hidden, f32, hot, thorough},
    {qwen, held_out, 128, qwen.hidden, f32, hot, quick},
    {qwen, held_out, 4096, qwen.hidden, bf16, hot, standard},
    {qwen, held_out, 8192, qwen.hidden, bf16, cold, standard},
};

// Columns are the vocabulary's.
constexpr RowsPoint cross_entropy[] = {
    {llama, fit, 4, llama.vocabulary, bf16, hot, quick},
    {llama, fit, 2048, llama.vocabulary, bf16, hot, standard},
    {llama, fit, 2048, llama.vocabulary, bf16, cold, standard},
    {llama, fit, 512, llama.vocabulary, f32, hot, thorough},
    {qwen, held_out, 2, qwen.vocabulary, f32, hot, quick},
    {qwen, held_out, 1024, qwen.vocabulary, bf16, hot, standard},
    {qwen, held_out, 1024, qwen.vocabulary, bf16, cold, standard},
};

// Matrices of weights.
constexpr RowsPoint adam[] = {
    {llama, fit, llama.hidden, attention_columns(llama), bf16, hot, quick},
    {llama, fit, llama.hidden, llama.intermediate, bf16, hot, standard},
    {llama, fit, llama.hidden, llama.intermediate, f32, cold, thorough},
    {qwen, held_out, qwen.hidden, qwen.intermediate, f32, hot, quick},
    {qwen, held_out, qwen.hidden, 2 * qwen.intermediate, bf16, hot, standard},
    {qwen, held_out, qwen.hidden, 2 * qwen.intermediate, bf16, cold, standard},
};

}  // namespace

std::vector<Parameters> rms_norm_backward_points(int threads, Effort effort) {
  return rows_points(rms_norm_backward, "rms_norm.backward", "norm.backward", threads, effort);
}

std::vector<Parameters> cross_entropy_points(int threads, Effort effort) {
  return rows_points(cross_entropy, "cross_entropy", "cross_entropy", threads, effort);
}

std::vector<Parameters> adam_points(int threads, Effort effort) {
  return rows_points(adam, "adam", "adam", threads, effort);
}

}  // namespace warpmeter
