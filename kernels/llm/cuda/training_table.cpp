// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/adam.h"
#include "kernels/llm/cross_entropy.h"
#include "kernels/llm/cuda/launch_training.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/cuda/training_problems.h"
#include "kernels/llm/rms_norm_backward.h"
#include "kernels/llm/training_points.h"

namespace warpmeter {
namespace {

Refusal backward_in_registers(const RowsShape& shape) {
  if (auto reason = row_type(shape)) return reason;
  if (shape.columns <= columns_of_backward) return std::nullopt;
  return fmt::format("{} columns; at most {} fit into the registers of a block", shape.columns,
                     columns_of_backward);
}

const Row<RowsShape> rms_norm_backward = {
    "kernel.rms_norm.backward",
    "At most 256 blocks share the rows and keep sums of dgain in registers; a second kernel adds "
    "these.",
    rms_norm_backward_points,
    rows_shape,
    rms_norm_backward_work,
    rms_norm_backward_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_rms_norm_backward(shape, p[0], p[1], p[2], p[3], p[4], p[5], stream);
    },
    backward_in_registers};

const Row<RowsShape> cross_entropy = {
    "kernel.cross_entropy",
    "One block per row, loss and gradient: an online pass for maximum and sum, and a second read.",
    cross_entropy_points,
    rows_shape,
    cross_entropy_work,
    cross_entropy_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_cross_entropy(shape, p[0], p[1], p[2], p[3], cross_entropy_scale(shape), stream);
    },
    row_type};

const Row<RowsShape> adam = {
    "kernel.adam",
    "AdamW, eight elements per thread, weights and moments in place, 16-byte accesses.",
    adam_points,
    rows_shape,
    adam_work,
    adam_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_adam(shape, adam_factors(adam_timed_step), p[0], p[1], p[2], p[3], p[4], stream);
    },
    row_type};

}  // namespace

std::vector<Benchmark> cuda_training_kernels() {
  return {benchmark(rms_norm_backward), benchmark(cross_entropy), benchmark(adam)};
}

}  // namespace warpmeter
