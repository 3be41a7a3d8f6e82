// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/attention.h"
#include "kernels/llm/cuda/attention_points.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/library/cudnn_attention.h"

namespace warpmeter {
namespace {

Refusal cudnn_shape(const AttentionShape& s) {
  if (auto reason = half_type(s)) return reason;
  if (s.heads % s.kv_heads == 0) return std::nullopt;
  return fmt::format("{} heads over {} KV heads leave a rest", s.heads, s.kv_heads);
}

Refusal cudnn_refusal(const Device& device) {
  static std::map<int, Refusal> answers;
  return answer_once(answers, device, cudnn_missing);
}

// Those of kernel.attention.prefill.
std::vector<Parameters> cudnn_points(int threads, Effort effort) {
  std::vector<Parameters> points = attention_prefill_points(threads, effort);
  for (Parameters& point : points) point["kernel"] = "attention.cudnn";
  return points;
}

PreparedLaunch prepare(const AttentionShape& shape) {
  const auto attention = std::make_shared<CudnnAttention>(shape, packed_layout(shape));
  return {[attention](Operands p, cudaStream_t stream) { attention->enqueue(p[0], p[1], stream); },
          attention->conditions()};
}

const Row<AttentionShape> attention = {
    "kernel.attention.cudnn",
    "NVIDIA's cuDNN, causal, packed q, k and v, the first engine of its heuristics.",
    cudnn_points,
    attention_shape,
    causal_attention_work,
    [](const AttentionShape& shape, std::uint32_t seed) {
      return attention_prefill_problem(shape, packed_layout(shape), seed);
    },
    nullptr,
    cudnn_shape,
    cudnn_refusal,
    prepare};

}  // namespace

std::vector<Benchmark> cuda_cudnn_kernels() { return {benchmark(attention)}; }

}  // namespace warpmeter
