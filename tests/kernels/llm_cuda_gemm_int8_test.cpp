// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The CUDA product of int8: exact sums, odd shapes and alignments, and counters.
#include "kernels/llm/check.h"
#include "kernels/llm/cuda/launch_gemm.h"
#include "kernels/llm/gemm_scaled.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class IntegerGemm : public OnEmulatedGpu {
 protected:
  Counted multiply(std::int64_t m, std::int64_t n, std::int64_t k) {
    const GemmShape shape{m, n, k, Element::int8};
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    return run(scaled_gemm_problem(shape, 3), launch_of(shape));
  }
  static Launch launch_of(const GemmShape& shape) {
    return [=](std::span<void* const> p, cudaStream_t stream) {
      launch_gemm_int8(shape, p[0], p[1], p[2], p[3], p[4], stream);
    };
  }
};

TEST_F(IntegerGemm, IsRightAtTheEdges) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                                {128, 128, 64},
                                {129, 136, 80},
                                {1, 264, 272},
                                {100, 77, 208},
                                {5, 130, 77},
                                {257, 16, 16}})
    multiply(m, n, k);
}

// Factors of one, and sums that bf16 holds exactly: |sum| <= 7 * 13 * 2 < 256. Each sum is then
// seen as it is.
TEST_F(IntegerGemm, SumsAreExact) {
  const std::int64_t m = 70, n = 131, k = 91;
  Problem problem;
  const Operand& a = add(problem, "activations", Role::input, Element::int8, m * k);
  const Operand& w = add(problem, "weights", Role::input, Element::int8, n * k);
  const Operand& rows = add(problem, "token scales", Role::input, Element::f32, m);
  const Operand& columns = add(problem, "channel scales", Role::input, Element::f32, n);
  const Operand& c = add(problem, "result", Role::output, Element::bf16, m * n);
  for (std::int64_t i = 0; i < a.count; ++i) a.i8()[i] = static_cast<std::int8_t>(i * 7 % 3 - 1);
  for (std::int64_t i = 0; i < w.count; ++i) w.i8()[i] = static_cast<std::int8_t>(i * 11 % 5 - 2);
  std::fill_n(rows.f32(), m, 1.0f);
  std::fill_n(columns.f32(), n, 1.0f);
  problem.verify = [=, &a, &w, &c] {
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t column = 0; column < n; ++column) {
        int sum = 0;
        for (std::int64_t i = 0; i < k; ++i) sum += a.i8()[row * k + i] * w.i8()[column * k + i];
        require_close("sum", row * n + column, c.at(row * n + column), sum, 0);
      }
  };
  run(std::move(problem), launch_of({m, n, k, Element::int8}));
}

TEST_F(IntegerGemm, Counts) {
  const Counted counted = multiply(256, 256, 256);
  const Work work = scaled_gemm_work({256, 256, 256, Element::int8});
  expect_compulsory_dram(counted, work);
  EXPECT_EQ(counted.of("mma_int8") / 32 * 2 * 16 * 8 * 32, work.ops.at("int8"));
  EXPECT_EQ(counted.of("fp32"), work.ops.at("f32"));
  EXPECT_EQ(counted.shared_conflicts, 0);
}

}  // namespace
}  // namespace warpmeter
