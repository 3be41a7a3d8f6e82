// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/launch_gemm.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/gemm_grouped.h"
#include "kernels/llm/gemm_int4.h"
#include "kernels/llm/gemm_scaled.h"
#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

Refusal few_tokens(const GemmShape& shape) {
  if (shape.m <= most_decode_tokens) return half_type(shape);
  return fmt::format("m = {}: at most {}; kernel.gemm.prefill does more", shape.m,
                     most_decode_tokens);
}

// Of C, 128 x 128 in all kernels with tiles.
double gemm_tiles(const GemmShape& s) { return parts(s.m, 128) * parts(s.n, 128); }

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
    half_type,
    nullptr,
    nullptr,
    gemm_tiles};

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

// wgmma exists on compute capability 9.0 only, neither before nor after.
Refusal without_wgmma(const Device& device) {
  const std::string capability = fact_text(device.facts, "compute_capability");
  if (capability == "9.0") return std::nullopt;
  return fmt::format(
      "compute capability {}: 9.0 is needed for wgmma; kernel.gemm.prefill runs here", capability);
}

// Tensor copies need rows of whole 16 bytes.
Refusal rows_for_copies(const GemmShape& shape) {
  if (auto reason = half_type(shape)) return reason;
  if (shape.k % 8 == 0 && shape.n % 8 == 0) return std::nullopt;
  return fmt::format(
      "n = {}, k = {}: both must be multiples of 8 for tensor copies; kernel.gemm.prefill takes "
      "any",
      shape.n, shape.k);
}

const Row<GemmShape> gemm_sm90 = {"kernel.gemm.sm90",
                                  "wgmma m64n128k16 on 128 x 128 tiles of C; tensor copies in six "
                                  "stages of k = 64 by a warpgroup "
                                  "of their own; one block per SM walks through the tiles.",
                                  gemm_sm90_points,
                                  gemm_shape,
                                  gemm_work,
                                  gemm_problem,
                                  [](const GemmShape& shape, Operands p, cudaStream_t stream) {
                                    launch_gemm_sm90(shape, p[0], p[1], p[2], stream);
                                  },
                                  rows_for_copies,
                                  without_wgmma,
                                  nullptr,
                                  gemm_tiles};

Refusal bytes_for_copies(const GemmShape& shape) {
  if (shape.type != Element::e4m3)
    return "type " + to_string(shape.type) +
           ": this kernel takes e4m3; kernel.gemm.sm90 takes bf16";
  if (shape.k % 16 == 0 && shape.n % 8 == 0) return std::nullopt;
  return fmt::format(
      "n = {}, k = {}: must be multiples of 8 and 16 for tensor copies; kernel.gemm.prefill takes "
      "any, in bf16",
      shape.n, shape.k);
}

const Row<GemmShape> gemm_fp8 = {
    "kernel.gemm.fp8",
    "kernel.gemm.sm90 with wgmma m64n128k32 of e4m3, sums carried to f32 registers every 128 of k, "
    "a factor per row and per column.",
    gemm_fp8_points,
    gemm_shape,
    scaled_gemm_work,
    scaled_gemm_problem,
    [](const GemmShape& shape, Operands p, cudaStream_t stream) {
      launch_gemm_fp8(shape, p[0], p[1], p[2], p[3], p[4], stream);
    },
    bytes_for_copies,
    without_wgmma,
    nullptr,
    gemm_tiles};

Refusal integers(const GemmShape& shape) {
  if (shape.type != Element::int8)
    return "type " + to_string(shape.type) + ": this kernel takes int8; kernel.gemm.prefill bf16";
  if (shape.k < std::int64_t{1} << 17) return std::nullopt;
  return fmt::format("k = {}: sums of products of int8 fit i32 below 131072", shape.k);
}

const Row<GemmShape> gemm_int8 = {
    "kernel.gemm.int8",
    "kernel.gemm.prefill with mma.sync m16n8k32 of int8, stages of k = 64, i32 sums, a factor per "
    "row and per column.",
    gemm_int8_points,
    gemm_shape,
    scaled_gemm_work,
    scaled_gemm_problem,
    [](const GemmShape& shape, Operands p, cudaStream_t stream) {
      launch_gemm_int8(shape, p[0], p[1], p[2], p[3], p[4], stream);
    },
    integers,
    nullptr,
    nullptr,
    gemm_tiles};

Refusal whole_groups(const GemmShape& shape) {
  if (auto reason = few_tokens(shape)) return reason;
  if (shape.k % int4_group == 0) return std::nullopt;
  return fmt::format("k = {}: must be whole groups of {}; kernel.gemm.decode takes any", shape.k,
                     int4_group);
}

const Row<GemmShape> gemm_int4 = {
    "kernel.gemm.int4",
    "kernel.gemm.decode on 4-bit weights with a factor and a zero point per 128 of k: made 16-bit "
    "numbers in registers, products summed per group by mma.sync, factors applied to these sums.",
    half_type_points<gemm_int4_points>,
    gemm_shape,
    int4_gemm_work,
    int4_gemm_problem,
    [](const GemmShape& shape, Operands p, cudaStream_t stream) {
      launch_gemm_int4(shape, p[0], p[1], p[2], p[3], stream);
    },
    whole_groups};

Refusal fewer_active(const GroupedGemmShape& shape) {
  if (auto reason = half_type(shape)) return reason;
  if (shape.active <= shape.experts && shape.active <= shape.rows) return std::nullopt;
  return fmt::format("{} experts with rows: at most {} experts and {} rows", shape.active,
                     shape.experts, shape.rows);
}

const Row<GroupedGemmShape> gemm_grouped = {
    "kernel.gemm.grouped",
    "kernel.gemm.prefill on rows sorted by expert; each block finds its tile from the offsets on "
    "the device.",
    gemm_grouped_points,
    grouped_gemm_shape,
    grouped_gemm_work,
    grouped_gemm_problem,
    [](const GroupedGemmShape& shape, Operands p, cudaStream_t stream) {
      launch_gemm_grouped(shape, p[0], p[1], p[2], p[3], stream);
    },
    fewer_active};

}  // namespace

std::vector<Benchmark> cuda_gemm_kernels() {
  return {benchmark(gemm_prefill), benchmark(gemm_decode), benchmark(gemm_sm90),
          benchmark(gemm_fp8),     benchmark(gemm_int8),   benchmark(gemm_int4),
          benchmark(gemm_grouped)};
}

}  // namespace warpmeter
