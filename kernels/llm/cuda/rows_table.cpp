// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/geglu.h"
#include "kernels/llm/layer_norm.h"
#include "kernels/llm/points.h"
#include "kernels/llm/residual.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/rope.h"
#include "kernels/llm/softmax.h"
#include "kernels/llm/swiglu.h"

namespace warpmeter {
namespace {

Refusal row_in_registers(const RowsShape& shape) {
  if (auto reason = row_type(shape)) return reason;
  if (shape.columns <= columns_in_registers) return std::nullopt;
  return fmt::format("{} columns; at most {} fit into the registers of a block", shape.columns,
                     columns_in_registers);
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

const Row<RowsShape> rms_norm_residual = {
    "kernel.rms_norm.residual",
    "One block per row: the sum with the residual is stored, kept in registers, and normalised.",
    rms_norm_residual_points,
    rows_shape,
    [](const RowsShape& shape) { return with_residual(rms_norm_work(shape), shape); },
    rms_norm_residual_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_rms_norm_residual(shape, p[0], p[1], p[2], p[3], p[4], stream);
    },
    row_in_registers};

const Row<RowsShape> layer_norm = {
    "kernel.layer_norm",
    "One block per row, kept in registers: mean, then variance; 16-byte accesses.",
    layer_norm_points,
    rows_shape,
    layer_norm_work,
    layer_norm_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_layer_norm(shape, p[0], p[1], p[2], p[3], stream);
    },
    row_in_registers};

const Row<RowsShape> layer_norm_residual = {
    "kernel.layer_norm.residual",
    "One block per row: the sum with the residual is stored, kept in registers, and normalised.",
    layer_norm_residual_points,
    rows_shape,
    [](const RowsShape& shape) { return with_residual(layer_norm_work(shape), shape); },
    layer_norm_residual_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_layer_norm_residual(shape, p[0], p[1], p[2], p[3], p[4], p[5], stream);
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

const Row<RowsShape> swiglu_packed = {
    "kernel.swiglu.packed",
    "One 16-byte vector of the result per thread; gate and up in one matrix, side by side.",
    swiglu_packed_points,
    rows_shape,
    swiglu_work,
    swiglu_packed_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_swiglu_packed(shape, p[0], p[1], stream);
    },
    row_type};

const Row<RowsShape> geglu = {"kernel.geglu",
                              "One 16-byte vector per thread over the flat matrices.",
                              geglu_points,
                              rows_shape,
                              geglu_work,
                              geglu_problem,
                              [](const RowsShape& shape, Operands p, cudaStream_t stream) {
                                launch_geglu(shape, p[0], p[1], p[2], stream);
                              },
                              row_type};

const Row<RowsShape> geglu_packed = {
    "kernel.geglu.packed",
    "One 16-byte vector of the result per thread; gate and up in one matrix, side by side.",
    geglu_packed_points,
    rows_shape,
    geglu_work,
    geglu_packed_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_geglu_packed(shape, p[0], p[1], stream);
    },
    row_type};

Refusal even_size(const RopeShape& shape) {
  if (token_stride(shape) < shape.heads * shape.head_size)
    return fmt::format("stride {}; {} heads of {} need at least {}", shape.stride, shape.heads,
                       shape.head_size, shape.heads * shape.head_size);
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

const Row<RopeShape> rope_packed = {
    "kernel.rope.packed",
    "The query and key heads of packed QKV rows, in place; one thread per 16 bytes of each half.",
    rope_packed_points,
    rope_shape,
    rope_work,
    rope_packed_problem,
    [](const RopeShape& shape, Operands p, cudaStream_t stream) {
      launch_rope(shape, p[0], p[1], p[2], p[3], p[0], stream);
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

}  // namespace

std::vector<Benchmark> cuda_row_kernels() {
  return {benchmark(softmax),     benchmark(rms_norm),
          benchmark(rope),        benchmark(swiglu),
          benchmark(gather),      benchmark(rms_norm_residual),
          benchmark(layer_norm),  benchmark(layer_norm_residual),
          benchmark(rope_packed), benchmark(swiglu_packed),
          benchmark(geglu),       benchmark(geglu_packed)};
}

}  // namespace warpmeter
