// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The CUDA matrix products: each type, odd shapes and alignments, and counters against work models.
#include <set>

#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/gemm.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class MatrixKernels : public OnEmulatedGpu, public testing::WithParamInterface<Element> {
 protected:
  using Launcher = void (*)(const GemmShape&, const void*, const void*, void*, cudaStream_t);

  Counted multiply(Launcher launcher, std::int64_t m, std::int64_t n, std::int64_t k) {
    const GemmShape shape{m, n, k, GetParam()};
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    return run(gemm_problem(shape, 3), [=](std::span<void* const> p, cudaStream_t stream) {
      launcher(shape, p[0], p[1], p[2], stream);
    });
  }
};

TEST_P(MatrixKernels, DecodeIsRightAtTheEdges) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                                {1, 16, 32},
                                {8, 17, 8},
                                {9, 33, 264},
                                {2, 5, 520},
                                {3, 40, 77},
                                {17, 48, 2048},
                                {33, 16, 300},
                                {64, 31, 256}})
    multiply(launch_gemm_decode, m, n, k);
}

TEST_P(MatrixKernels, DecodeCounts) {
  const Counted counted = multiply(launch_gemm_decode, 16, 128, 1024);
  const Work work = gemm_work({16, 128, 1024, GetParam()});
  expect_compulsory_dram(counted, work);
  // 32 lanes for each 16 x 8 x 16 products of two operations.
  EXPECT_EQ(counted.of("mma_f16") / 32 * 2 * 16 * 8 * 16, work.ops.at(to_string(GetParam())));
}

TEST_P(MatrixKernels, PrefillIsRightAtTheEdges) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                                {128, 128, 32},
                                {129, 136, 40},
                                {1, 264, 264},
                                {100, 77, 200},
                                {5, 130, 77},
                                {257, 16, 8}})
    multiply(launch_gemm_prefill, m, n, k);
}

TEST_P(MatrixKernels, PrefillCounts) {
  const Counted counted = multiply(launch_gemm_prefill, 256, 256, 256);
  const Work work = gemm_work({256, 256, 256, GetParam()});
  expect_compulsory_dram(counted, work);
  EXPECT_EQ(counted.of("mma_f16") / 32 * 2 * 16 * 8 * 16, work.ops.at(to_string(GetParam())));
  EXPECT_EQ(counted.shared_conflicts, 0);
}

INSTANTIATE_TEST_SUITE_P(EachType, MatrixKernels, testing::Values(Element::bf16, Element::f16),
                         [](const auto& test) { return to_string(test.param); });

// All shapes of all matrix products, shrunk for an emulated device, are shapes that they take.
TEST(MatrixPoints, ShrinkToShapesThatAreTaken) {
  Device device;
  device.facts["emulated"] = {true, std::nullopt, "test"};
  device.facts["compute_capability"] = {"9.0", std::nullopt, "test"};
  ASSERT_TRUE(is_emulated(device));
  for (const Benchmark& row : cuda_gemm_kernels()) {
    std::set<std::string> models;
    for (const Parameters& point : row.points(device, Effort::thorough)) {
      EXPECT_EQ(row.unsupported(device, point), std::nullopt) << row.id << to_string(point);
      EXPECT_LT(row.work(point).ops.at(*word(point, "type")), 2e8) << row.id << to_string(point);
      models.insert(*word(point, "model"));
    }
    EXPECT_TRUE(models.contains("Qwen3-30B-A3B/16")) << row.id;
  }
}

}  // namespace
}  // namespace warpmeter
