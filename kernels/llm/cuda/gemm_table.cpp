// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

Refusal few_tokens(const GemmShape& shape) {
  if (shape.m <= most_decode_tokens) return half_type(shape);
  return fmt::format("m = {}: at most {}; kernel.gemm.prefill does more", shape.m,
                     most_decode_tokens);
}

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

std::vector<Benchmark> cuda_gemm_kernels() {
  return {benchmark(gemm_prefill), benchmark(gemm_decode)};
}

}  // namespace warpmeter
