// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/attention.h"
#include "kernels/llm/attention_mla.h"
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

Refusal unfit_page(std::int64_t page) {
  if (page >= 16 && (page & (page - 1)) == 0) return std::nullopt;
  return fmt::format("pages of {}; a power of two from 16 on", page);
}

Refusal decode_attention(const DecodeShape& s) {
  if (auto reason = matrix_attention(s)) return reason;
  if (s.heads / s.kv_heads > 8)
    return fmt::format("{} heads over {} KV heads; at most 8 each", s.heads, s.kv_heads);
  if (auto reason = unfit_page(s.page)) return reason;
  if (s.cache == s.type || s.cache == Element::e4m3) return std::nullopt;
  return "a cache of " + to_string(s.cache) + "; there is e4m3 and the type of the queries";
}

// Of queries: each head of each sequence by itself.
template <int queries>
double query_tiles(const AttentionShape& s) {
  return static_cast<double>(s.batch * s.heads) * parts(s.context, queries);
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
    matrix_attention,
    nullptr,
    nullptr,
    query_tiles<64>};

// All sequences as long as the context.
std::vector<std::int32_t> full_lengths(std::int64_t batch, std::int64_t context) {
  return std::vector<std::int32_t>(static_cast<std::size_t>(batch),
                                   static_cast<std::int32_t>(context));
}

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
      return attention_decode_problem(shape, full_lengths(shape.batch, shape.context), seed);
    },
    [](const DecodeShape& shape, Operands p, cudaStream_t stream) {
      launch_attention_decode(
          shape, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], packed_row(shape)}, stream);
    },
    decode_attention};

// wgmma exists on compute capability 9.0 only, neither before nor after.
Refusal without_wgmma(const Device& device) {
  const std::string capability = fact_text(device.facts, "compute_capability");
  if (capability == "9.0") return std::nullopt;
  return fmt::format(
      "compute capability {}: 9.0 is needed for wgmma; kernel.attention.prefill runs here",
      capability);
}

Refusal sm90_attention(const AttentionShape& s) {
  if (auto reason = matrix_attention(s)) return reason;
  if (s.head_size != 256) return std::nullopt;
  return "head size 256; there is 64 and 128, and kernel.attention.prefill takes 256";
}

const Row<AttentionShape> attention_sm90 = {
    "kernel.attention.sm90",
    "kernel.attention.prefill by wgmma: 128 queries per block in two warpgroups, tensor copies of "
    "128 keys and values in two stages by a third; weights go from registers.",
    attention_sm90_points,
    attention_shape,
    causal_attention_work,
    [](const AttentionShape& shape, std::uint32_t seed) {
      return attention_prefill_problem(shape, packed_layout(shape), seed);
    },
    [](const AttentionShape& shape, Operands p, cudaStream_t stream) {
      launch_attention_sm90(shape, p[0], p[1], stream);
    },
    sm90_attention,
    without_wgmma,
    nullptr,
    query_tiles<128>};

// Its sizes are the kernel's; those of the point are looked at by unfit_mla.
struct MlaPoint : MlaShape {
  std::int64_t rank = 0, rope = 0;
};

MlaPoint mla_point(const Parameters& p) {
  const std::int64_t page = number(p, "page") ? count(p, "page") : 64;
  return {{count(p, "batch"), count(p, "heads"), count(p, "context"), page, type_of(p)},
          count(p, "kv_rank"),
          count(p, "rope_size")};
}

Refusal unfit_mla(const MlaPoint& s) {
  if (auto reason = half_type(s)) return reason;
  if (s.rank != mla_rank || s.rope != mla_rope)
    return fmt::format("latent rows of {} + {}; there is {} + {}", s.rank, s.rope, mla_rank,
                       mla_rope);
  if (s.heads % 16 != 0)
    return fmt::format("{} heads; a multiple of 16, the rows of a matrix instruction", s.heads);
  return unfit_page(s.page);
}

const Row<MlaPoint> attention_mla = {
    "kernel.attention.mla",
    "Multi-head latent attention, absorbed: 16 or 32 heads per block as rows of mma.sync m16n8k16 "
    "over one paged row per position; online softmax; split context.",
    attention_mla_points,
    mla_point,
    [](const MlaPoint& shape) { return mla_work(shape); },
    [](const MlaPoint& shape, std::uint32_t seed) {
      return attention_mla_problem(shape, full_lengths(shape.batch, shape.context), seed);
    },
    [](const MlaPoint& shape, Operands p, cudaStream_t stream) {
      launch_attention_mla(shape, {p[0], p[1], p[2], p[3], p[4], p[5], p[6]}, stream);
    },
    unfit_mla};

}  // namespace

std::vector<Benchmark> cuda_attention_kernels() {
  return {benchmark(attention_prefill), benchmark(attention_sm90), benchmark(attention_decode),
          benchmark(attention_mla)};
}

}  // namespace warpmeter
