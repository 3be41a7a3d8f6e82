// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Quantization to e4m3: every scale and result to the bit, and counters against the work model.
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/quantize.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class Quantize : public OnEmulatedGpu {
 protected:
  using LaunchRows = void (*)(const RowsShape&, const void*, void*, void*, cudaStream_t);
  Counted run_rows(const RowsShape& shape, Problem problem, LaunchRows launch) {
    return run(std::move(problem), [=](std::span<void* const> p, cudaStream_t stream) {
      launch(shape, p[0], p[1], p[2], stream);
    });
  }
  Counted token(const RowsShape& shape) {
    return run_rows(shape, quantize_token_problem(shape, 3), launch_quantize_token);
  }
  Counted block(const RowsShape& shape) {
    return run_rows(shape, quantize_block_problem(shape, 3), launch_quantize_block);
  }
};

constexpr Element half_types[] = {Element::bf16, Element::f16};

TEST_F(Quantize, IsRightToTheBitAtTheEdges) {
  for (const Element type : half_types)
    // Fewer than a vector, a group with and without whole vectors, groups that end early.
    for (const auto& [rows, columns] :
         {std::pair{1, 1}, {3, 7}, {5, 16}, {1, 128}, {3, 129}, {2, 336}, {9, 1000}, {3, 2048}}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " " << rows << " x " << columns);
      token({rows, columns, type});
      block({rows, columns, type});
    }
  token({1, columns_in_registers, Element::bf16});
}

// Zeros have the scale 1; the scale of the smallest numbers is subnormal.
TEST_F(Quantize, TakesZerosAndTheSmallestNumbers) {
  const RowsShape shape{3, 256, Element::bf16};
  for (const bool whole : {false, true}) {
    Problem problem = whole ? quantize_token_problem(shape, 3) : quantize_block_problem(shape, 3);
    std::uint16_t* x = problem.operands[0].bf16();
    for (int i = 0; i < 256; ++i) {
      x[i] = i % 2 == 0 ? 0 : 0x8000;                    // +-0
      x[256 + i] = static_cast<std::uint16_t>(i % 128);  // subnormal
    }
    run_rows(shape, std::move(problem), whole ? launch_quantize_token : launch_quantize_block);
  }
}

// Divisions count as special functions: one per element, and that of the scale in every thread.
// Per element a maximum, and four operations of the conversion for devices that have no instruction
// for it; reductions as in llm_cuda_rows_test.
TEST_F(Quantize, DoesTheWorkOfTheModel) {
  for (const Element type : half_types) {
    const RowsShape shape{64, 2048, type};
    const double elements = 64 * 2048, threads = elements / 16;
    const Counted of_token = token(shape), of_block = block(shape);
    expect_compulsory_dram(of_token, quantize_work(shape, shape.columns));
    expect_compulsory_dram(of_block, quantize_work(shape, quantize_columns));
    EXPECT_EQ(of_token.of("special_function"), elements + threads);
    EXPECT_EQ(of_token.of("fp32"), (1 + 4) * elements + 10 * threads);
    EXPECT_EQ(of_block.of("special_function"), elements + threads);
    EXPECT_EQ(of_block.of("fp32"), (1 + 4) * elements + 3 * threads);
  }
}

}  // namespace
}  // namespace warpmeter
