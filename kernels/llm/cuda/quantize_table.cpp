// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/points.h"
#include "kernels/llm/quantize.h"

namespace warpmeter {
namespace {

Refusal activation_type(const RowsShape& shape) {
  if (shape.type == Element::bf16 || shape.type == Element::f16) return std::nullopt;
  return "type " + to_string(shape.type) + ": bf16 or f16 is quantized to e4m3";
}

Refusal token_in_registers(const RowsShape& shape) {
  if (auto reason = activation_type(shape)) return reason;
  if (shape.columns <= columns_in_registers) return std::nullopt;
  return fmt::format("{} columns; at most {} fit into the registers of a block", shape.columns,
                     columns_in_registers);
}

const Row<RowsShape> quantize_token = {
    "kernel.quantize.token",
    "To e4m3 with a scale per row: one block per row, kept in registers.",
    quantize_token_points,
    rows_shape,
    [](const RowsShape& shape) { return quantize_work(shape, shape.columns); },
    quantize_token_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_quantize_token(shape, p[0], p[1], p[2], stream);
    },
    token_in_registers};

const Row<RowsShape> quantize_block = {
    "kernel.quantize.block",
    "To e4m3 with a scale per row and 128 columns: eight lanes per group.",
    quantize_block_points,
    rows_shape,
    [](const RowsShape& shape) { return quantize_work(shape, quantize_columns); },
    quantize_block_problem,
    [](const RowsShape& shape, Operands p, cudaStream_t stream) {
      launch_quantize_block(shape, p[0], p[1], p[2], stream);
    },
    activation_type};

}  // namespace

std::vector<Benchmark> cuda_quantize_kernels() {
  return {benchmark(quantize_token), benchmark(quantize_block)};
}

}  // namespace warpmeter
