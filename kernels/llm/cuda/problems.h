// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>

#include "kernels/llm/attention_layout.h"
#include "kernels/llm/attention_shapes.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// One kernel's data on the host: inputs filled with fresh values, room for its results, and their
// check, the same that the host's kernel of that name passes.
struct Problem {
  std::deque<Operand> operands;  // in the order of the launcher's pointers (launch.h)
  std::function<void()> verify;  // throws std::runtime_error("corrupt: ...")
  std::int64_t checked_results = 0;
};

// Appends an operand; the reference stays valid as long as the problem.
Operand& add(Problem& problem, const char* name, Role role, Element type, std::int64_t count);

Problem rms_norm_problem(const RowsShape& shape, std::uint32_t seed);
Problem rms_norm_residual_problem(const RowsShape& shape, std::uint32_t seed);
Problem layer_norm_problem(const RowsShape& shape, std::uint32_t seed);
Problem layer_norm_residual_problem(const RowsShape& shape, std::uint32_t seed);
Problem softmax_problem(const RowsShape& shape, std::uint32_t seed);
Problem swiglu_problem(const RowsShape& shape, std::uint32_t seed);
Problem swiglu_packed_problem(const RowsShape& shape, std::uint32_t seed);
Problem geglu_problem(const RowsShape& shape, std::uint32_t seed);
Problem geglu_packed_problem(const RowsShape& shape, std::uint32_t seed);
Problem gather_problem(const GatherShape& shape, std::uint32_t seed);
Problem rope_problem(const RopeShape& shape, std::uint32_t seed);
Problem rope_packed_problem(const RopeShape& shape, std::uint32_t seed);  // in place
Problem kv_append_problem(const KvAppendShape& shape, std::uint32_t seed);
Problem quantize_token_problem(const RowsShape& shape, std::uint32_t seed);
Problem quantize_block_problem(const RowsShape& shape, std::uint32_t seed);
Problem sample_problem(const SampleShape& shape, std::uint32_t seed);
// `lengths`: positions of each sequence, at most shape.context.
Problem attention_decode_problem(const DecodeShape& shape, std::span<const std::int32_t> lengths,
                                 std::uint32_t seed);
Problem attention_mla_problem(const MlaShape& shape, std::span<const std::int32_t> lengths,
                              std::uint32_t seed);
// Operands qkv and o.
Problem attention_prefill_problem(const AttentionShape& shape, const AttentionLayout& layout,
                                  std::uint32_t seed);
Problem gemm_problem(const GemmShape& shape, std::uint32_t seed);
Problem scaled_gemm_problem(const GemmShape& shape, std::uint32_t seed);
// int8 operands, result of i32: the exact sums, to the bit.
Problem whole_gemm_problem(const GemmShape& shape, std::uint32_t seed);
Problem int4_gemm_problem(const GemmShape& shape, std::uint32_t seed);
Problem grouped_gemm_problem(const GroupedGemmShape& shape, std::uint32_t seed);
// The same with these rows per expert.
Problem grouped_gemm_problem(const GroupedGemmShape& shape,
                             std::span<const std::int64_t> rows_of_expert, std::uint32_t seed);

}  // namespace warpmeter
