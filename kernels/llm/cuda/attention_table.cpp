// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/attention.h"
#include "kernels/llm/cuda/attention_points.h"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"

namespace warpmeter {
namespace {

Refusal matrix_attention(const AttentionShape& s) {
  if (auto reason = half_type(s)) return reason;
  if (s.head_size != 64 && s.head_size != 128 && s.head_size != 256)
    return fmt::format("head size {}; there is 64, 128 and 256", s.head_size);
  if (s.heads % s.kv_heads == 0) return std::nullopt;
  return fmt::format("{} heads over {} KV heads leave a rest", s.heads, s.kv_heads);
}

Refusal decode_attention(const DecodeShape& s) {
  if (auto reason = matrix_attention(s)) return reason;
  if (s.heads / s.kv_heads > 8)
    return fmt::format("{} heads over {} KV heads; at most 8 each", s.heads, s.kv_heads);
  if (s.page < 16 || (s.page & (s.page - 1)) != 0)
    return fmt::format("pages of {}; a power of two from 16 on", s.page);
  if (s.cache == s.type || s.cache == Element::e4m3) return std::nullopt;
  return "a cache of " + to_string(s.cache) + "; there is e4m3 and the type of the queries";
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

// Without `page` 16 positions, without `cache` the type of the queries.
DecodeShape decode_shape(const Parameters& p) {
  DecodeShape shape{attention_shape(p), 16, type_of(p)};
  if (number(p, "page")) shape.page = count(p, "page");
  if (const auto cache = word(p, "cache")) shape.cache = parse_element(*cache);
  return shape;
}

const Row<DecodeShape> attention_decode = {
    "kernel.attention.decode",
    "Paged cache; heads that share K and V as columns of mma.sync m16n8k16; online softmax; split "
    "context.",
    attention_decode_points,
    decode_shape,
    paged_attention_work,
    [](const DecodeShape& shape, std::uint32_t seed) {
      const std::vector<std::int32_t> lengths(static_cast<std::size_t>(shape.batch),
                                              static_cast<std::int32_t>(shape.context));
      return attention_decode_problem(shape, lengths, seed);
    },
    [](const DecodeShape& shape, Operands p, cudaStream_t stream) {
      launch_attention_decode(shape, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]},
                              stream);
    },
    decode_attention};

}  // namespace

std::vector<Benchmark> cuda_attention_kernels() {
  return {benchmark(attention_prefill), benchmark(attention_decode)};
}

}  // namespace warpmeter
