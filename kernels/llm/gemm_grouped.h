// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/work.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// C[r, n] = sum over k of A[r, k] W[e, n, k] for the rows r of expert e, offsets[e] <= r <
// offsets[e
// + 1]: one linear layer of a mixture of experts on tokens sorted by expert. A [rows, k], W
// [experts, n, k], offsets [experts + 1] of i32, C [rows, n]. Only the CUDA kernel exists.
//
// Work: `active` experts have rows, and only their weights are read; e = bytes of type:
//   ops[type] = 2 rows n k
//   bytes_read = (rows k + active n k) e + 4 (experts + 1)    bytes_written = rows n e
//   working_set = both    launches = 1
//
// Checked: 8 rows x 64 columns (all, if rows n k <= 2^20) in double precision with the tolerance of
// gemm.h; no element of C unwritten.
Work grouped_gemm_work(const GroupedGemmShape& shape);

// How many rows each expert has: `active` experts at least one, drawn at random, the other rows
// spread over them at random.
std::vector<std::int64_t> draw_rows(const GroupedGemmShape& shape, std::uint32_t seed);

struct GroupedGemm {
  const Operand &activations, &weights, &offsets, &result;
};

// Fills the inputs for these rows per expert; weights of experts without rows stay untouched.
void fill_grouped_gemm(const GroupedGemmShape& shape, std::span<const std::int64_t> rows_of_expert,
                       std::uint32_t seed, const GroupedGemm& operands);

// Some elements of C in double precision.
struct GroupedGemmReference : ProductReference {
  GroupedGemmReference(const GroupedGemmShape& shape, const GroupedGemm& operands,
                       std::uint32_t seed);
};

}  // namespace warpmeter
