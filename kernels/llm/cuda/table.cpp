// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/table.h"

#include <fmt/format.h>

#include "kernels/llm/attention.h"
#include "kernels/llm/cuda/device_kernel_case.h"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/points.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/point_shapes.h"
#include "kernels/llm/points.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/rope.h"
#include "kernels/llm/softmax.h"
#include "kernels/llm/swiglu.h"

namespace warpmeter {
namespace {

using Refusal = std::optional<std::string>;
using Operands = std::span<void* const>;

// What a kernel is made of. `launch` takes the problem's operands in their order.
template <class Shape>
struct Row {
  std::string id;
  std::string method;
  std::vector<Parameters> (*points)(int threads, Effort effort);
  Shape (*shape_of)(const Parameters&);
  Work (*work_of)(const Shape&);
  Problem (*problem_of)(const Shape&, std::uint32_t seed);
  void (*launch)(const Shape&, Operands, cudaStream_t);
  Refusal (*refusal)(const Shape&);  // why the kernel cannot do this shape
};

Refusal too_large(const Device& device, const Work& work) {
  const double memory = fact_number(device.facts, "memory.total").value_or(0);
  const double needed = 1.1 * work.working_set;
  if (memory == 0 || needed <= memory) return std::nullopt;
  return fmt::format("needs {} of device memory, the device has {}", format_bytes(needed),
                     format_bytes(memory));
}

template <class Shape>
Benchmark benchmark(const Row<Shape>& row) {
  Benchmark result;
  result.id = row.id;
  result.quantity = "kernel.time";
  result.unit = Unit::second;
  result.device = DeviceKind::cuda;
  result.method = row.method +
                  " Result checked against double precision before timing; event time of one "
                  "execution: the mean of many in a row (hot), or one after flushing L2 (cold).";
  result.points = [row](const Device& device, Effort effort) {
    return device_points(row.points(1, effort), device);
  };
  result.work = [row](const Parameters& p) { return row.work_of(row.shape_of(p)); };
  result.unsupported = [row](const Device& device, const Parameters& p) -> Refusal {
    const Shape shape = row.shape_of(p);
    if (auto reason = row.refusal(shape)) return reason;
    return too_large(device, row.work_of(shape));
  };
  result.make = [row](const Device& device, const Parameters& p) -> std::unique_ptr<Case> {
    const Shape shape = row.shape_of(p);
    return std::make_unique<DeviceKernelCase>(
        device, parse_residency(word(p, "residency").value_or("none")),
        [=] { return row.problem_of(shape, next_seed()); },
        [=](Operands operands, cudaStream_t stream) { row.launch(shape, operands, stream); });
  };
  result.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return result;
}

template <class Shape>
Refusal row_type(const Shape& shape) {
  if (shape.type == Element::f32 || shape.type == Element::bf16) return std::nullopt;
  return "type " + to_string(shape.type) + ": this kernel takes f32 or bf16";
}

Refusal row_in_registers(const RowsShape& shape) {
  if (auto reason = row_type(shape)) return reason;
  if (shape.columns <= columns_in_registers) return std::nullopt;
  return fmt::format("{} columns; at most {} fit into the registers of a block", shape.columns,
                     columns_in_registers);
}

// The host's points, with f16 in place of f32.
template <std::vector<Parameters> (*points)(int, Effort)>
std::vector<Parameters> half_type_points(int threads, Effort effort) {
  std::vector<Parameters> result = points(threads, effort);
  for (Parameters& point : result)
    if (word(point, "type") == "f32") point["type"] = "f16";
  return result;
}

const Row<RowsShape> rms_norm = {"kernel.rms_norm",
                                 "One block per row, kept in registers; 16-byte accesses.",
                                 rms_norm_points,
                                 rows_shape,
                                 rms_norm_work,
                                 rms_norm_problem,
                                 [](const RowsShape& shape, Operands p, cudaStream_t stream) {
                                   launch_rms_norm(shape, p[0], p[1], p[2], stream);
                                 },
                                 row_in_registers};

const Row<RowsShape> softmax = {
    "kernel.softmax",
    "One block per row, kept in registers up to 16384 columns, else read twice.",
    softmax_points,
    rows_shape,
    softmax_work,
    softmax_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_softmax(shape, p[0], p[1], stream);
    },
    row_type};

const Row<RowsShape> swiglu = {"kernel.swiglu",
                               "One 16-byte vector per thread over the flat matrices.",
                               swiglu_points,
                               rows_shape,
                               swiglu_work,
                               swiglu_problem,
                               [](const RowsShape& shape, Operands p, cudaStream_t stream) {
                                 launch_swiglu(shape, p[0], p[1], p[2], stream);
                               },
                               row_type};

Refusal even_size(const RopeShape& shape) {
  if (shape.tokens > rope_positions)
    return fmt::format("{} tokens; the tables have {} positions", shape.tokens, rope_positions);
  if (shape.head_size % 2 == 0) return row_type(shape);
  return fmt::format("head size {} is odd; elements turn in pairs", shape.head_size);
}

const Row<RopeShape> rope = {
    "kernel.rope",
    "One thread per 16 bytes of each half of a head; tables of cosines and sines.",
    rope_points,
    rope_shape,
    rope_work,
    rope_problem,
    [](const RopeShape& shape, Operands p, cudaStream_t stream) {
      launch_rope(shape, p[0], p[1], p[2], p[3], p[4], stream);
    },
    even_size};

const Row<GatherShape> gather = {"kernel.gather",
                                 "128 threads copy 2 KiB of a token's table row, 16 bytes each.",
                                 gather_points,
                                 gather_shape,
                                 gather_work,
                                 gather_problem,
                                 [](const GatherShape& shape, Operands p, cudaStream_t stream) {
                                   launch_gather(shape, p[0], p[1], p[2], stream);
                                 },
                                 row_type};

template <class Shape>
Refusal half_type(const Shape& shape) {
  if (shape.type == Element::bf16 || shape.type == Element::f16) return std::nullopt;
  return "type " + to_string(shape.type) + ": matrix instructions take bf16 or f16";
}

Refusal few_tokens(const GemmShape& shape) {
  if (shape.m <= most_decode_tokens) return half_type(shape);
  return fmt::format("m = {}: at most {}; kernel.gemm.prefill does more", shape.m,
                     most_decode_tokens);
}

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
    attention_prefill_problem,
    [](const AttentionShape& shape, Operands p, cudaStream_t stream) {
      launch_attention_prefill(shape, p[0], p[1], p[2], p[3], stream);
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

const Row<GemmShape> gemm_prefill = {
    "kernel.gemm.prefill",
    "mma.sync m16n8k16 on 128 x 128 tiles of C; ldmatrix; cp.async in four stages of k = 32.",
    half_type_points<gemm_prefill_points>,
    gemm_shape,
    gemm_work,
    gemm_problem,
    [](const GemmShape& shape, Operands p, cudaStream_t stream) {
      launch_gemm_prefill(shape, p[0], p[1], p[2], stream);
    },
    half_type};

const Row<GemmShape> gemm_decode = {
    "kernel.gemm.decode",
    "mma.sync m16n8k16 straight from memory, weights as the 16 rows; a block's warps share k.",
    half_type_points<gemm_decode_points>,
    gemm_shape,
    gemm_work,
    gemm_problem,
    [](const GemmShape& shape, Operands p, cudaStream_t stream) {
      launch_gemm_decode(shape, p[0], p[1], p[2], stream);
    },
    few_tokens};

}  // namespace

std::vector<Benchmark> cuda_llm_kernels() {
  return {benchmark(gemm_prefill),
          benchmark(gemm_decode),
          benchmark(attention_prefill),
          benchmark(attention_decode),
          benchmark(softmax),
          benchmark(rms_norm),
          benchmark(rope),
          benchmark(swiglu),
          benchmark(gather)};
}

}  // namespace warpmeter
