// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/attention.h"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

Refusal matrix_attention(const AttentionShape& s) {
  if (auto reason = half_type(s)) return reason;
  if (s.head_size != 64 && s.head_size != 128)
    return fmt::format("head size {}; there is 64 and 128", s.head_size);
  if (s.heads % s.kv_heads == 0) return std::nullopt;
  return fmt::format("{} heads over {} KV heads leave a rest", s.heads, s.kv_heads);
}

Refusal decode_attention(const AttentionShape& s) {
  if (auto reason = matrix_attention(s)) return reason;
  if (s.heads / s.kv_heads <= 8) return std::nullopt;
  return fmt::format("{} heads over {} KV heads; at most 8 each", s.heads, s.kv_heads);
}

// Prompts of as many tokens as the contexts of decoding, with the same split.
std::vector<Parameters> attention_prefill_points(int threads, Effort effort) {
  std::vector<Parameters> points = half_type_points<attention_points>(threads, effort);
  for (Parameters& point : points) point["kernel"] = point["family"] = "attention.prefill";
  return points;
}

const Row<AttentionShape> attention_prefill = {
    "kernel.attention.prefill",
    "Causal; 64 queries per block, mma.sync m16n8k16, cp.async of K and V, online softmax.",
    attention_prefill_points,
    attention_shape,
    causal_attention_work,
    [](const AttentionShape& shape, std::uint32_t seed) {
      return attention_prefill_problem(shape, packed_layout(shape), seed);
    },
    [](const AttentionShape& shape, Operands p, cudaStream_t stream) {
      launch_attention_prefill(shape, packed_layout(shape), p[0], p[0], p[0], p[1], stream);
    },
    matrix_attention};

// The host's kernel passes its scores through memory, this one the results of its chunks.
Work attention_decode_work(const AttentionShape& shape) {
  Work work = attention_work(shape);
  const auto parts = static_cast<double>(shape.batch * shape.heads * attention_splits(shape));
  work.working_set =
      work.bytes_read + work.bytes_written + 4 * parts * (static_cast<double>(shape.head_size) + 2);
  work.launches = 2;
  return work;
}

const Row<AttentionShape> attention_decode = {
    "kernel.attention.decode",
    "Heads that share K and V as rows of mma.sync m16n8k16; online softmax; split context.",
    half_type_points<attention_points>,
    attention_shape,
    attention_decode_work,
    attention_decode_problem,
    [](const AttentionShape& shape, Operands p, cudaStream_t stream) {
      launch_attention_decode(shape, p[0], p[1], p[2], p[3], p[4], p[5], stream);
    },
    decode_attention};

}  // namespace

std::vector<Benchmark> cuda_attention_kernels() {
  return {benchmark(attention_prefill), benchmark(attention_decode)};
}

}  // namespace warpmeter
