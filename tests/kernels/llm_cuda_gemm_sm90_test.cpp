// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The matrix products by wgmma, on a chip of compute capability 9.0: edges of tiles, of the ring of
// stages and of the walk through tiles; counters against work models.
#include "cuda/device.h"
#include "kernels/llm/cuda/launch_gemm.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/gemm_scaled.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class HopperGemm : public OnEmulatedGpu, public testing::WithParamInterface<Element> {
 protected:
  Counted multiply(std::int64_t m, std::int64_t n, std::int64_t k) {
    const GemmShape shape{m, n, k, GetParam()};
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    return run(gemm_problem(shape, 3), [=](std::span<void* const> p, cudaStream_t stream) {
      launch_gemm_sm90(shape, p[0], p[1], p[2], stream);
    });
  }
};

// One row; one warpgroup's rows and one more; a part of a stage, more stages than the ring has.
TEST_P(HopperGemm, IsRightAtTheEdges) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 8, 8},
                                {64, 128, 64},
                                {65, 136, 72},
                                {128, 72, 6 * 64},
                                {3, 16, 13 * 64 + 16}})
    multiply(m, n, k);
}

// 5 x 9 tiles on 16 SMs: three per block at most, one band of tiles whole and one of one row; the
// ring goes on from tile to tile, of an odd number of stages.
TEST_P(HopperGemm, WalksThroughManyTiles) { multiply(9 * 128 - 5, 5 * 128 - 8, 3 * 64); }

TEST_P(HopperGemm, Counts) {
  const Counted counted = multiply(256, 384, 256);
  const Work work = gemm_work({256, 384, 256, GetParam()});
  expect_compulsory_dram(counted, work);
  // 128 threads for each 64 x 128 x 16 products of two operations.
  EXPECT_EQ(counted.of("wgmma_f16") / 128 * 2 * 64 * 128 * 16, work.ops.at(to_string(GetParam())));
  EXPECT_EQ(counted.shared_conflicts, 0);
}

class HopperGemmOfBytes : public OnEmulatedGpu {
 protected:
  Counted multiply(std::int64_t m, std::int64_t n, std::int64_t k) {
    const GemmShape shape{m, n, k, Element::e4m3};
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    return run(scaled_gemm_problem(shape, 3), [=](std::span<void* const> p, cudaStream_t stream) {
      launch_gemm_fp8(shape, p[0], p[1], p[2], p[3], p[4], stream);
    });
  }
};

TEST_F(HopperGemmOfBytes, IsRightAtTheEdges) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 8, 16},
                                {64, 128, 128},
                                {65, 136, 144},
                                {3, 16, 9 * 128},
                                {9 * 128 - 5, 4 * 128 - 8, 3 * 128}})
    multiply(m, n, k);
}

TEST_F(HopperGemmOfBytes, Counts) {
  const Counted counted = multiply(256, 384, 512);
  const Work work = scaled_gemm_work({256, 384, 512, Element::e4m3});
  expect_compulsory_dram(counted, work);
  EXPECT_EQ(counted.of("wgmma_fp8") / 128 * 2 * 64 * 128 * 32, work.ops.at("e4m3"));
  // And an addition for each 128 of k.
  EXPECT_EQ(counted.of("fp32"), work.ops.at("f32") + 256 * 384 * 4);
  EXPECT_EQ(counted.shared_conflicts, 0);
}

Device with_capability(const char* capability) {
  Device device;
  device.kind = DeviceKind::cuda;
  device.facts["compute_capability"] = {capability, std::nullopt, "test"};
  return device;
}

std::string refusal(const Device& device, double n, double k) {
  const Parameters point = {{"m", 1.0}, {"n", n}, {"k", k}, {"type", "bf16"}};
  for (const Benchmark& row : cuda_gemm_kernels())
    if (row.id == "kernel.gemm.sm90") return row.unsupported(device, point).value_or("");
  return "no such row";
}

TEST(HopperGemms, SayWhereTheyRun) {
  EXPECT_EQ(refusal(with_capability("9.0"), 8, 8), "");
  for (const char* other : {"8.0", "8.9", "10.0", "12.0"})
    EXPECT_EQ(refusal(with_capability(other), 8, 8),
              std::string("compute capability ") + other +
                  ": 9.0 is needed for wgmma; kernel.gemm.prefill runs here");
  EXPECT_EQ(refusal(with_capability("9.0"), 12, 8),
            "n = 12, k = 8: both must be multiples of 8 for tensor copies; kernel.gemm.prefill "
            "takes any");
  EXPECT_NE(refusal(with_capability("9.0"), 8, 12), "");
}

INSTANTIATE_TEST_SUITE_P(EachType, HopperGemm, testing::Values(Element::bf16, Element::f16),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace warpmeter
