// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The CUDA product with 4-bit weights: layout, edges, and counters against the work model.
#include <set>

#include "kernels/llm/cuda/launch_gemm.h"
#include "kernels/llm/gemm_int4.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class FourBitGemm : public OnEmulatedGpu, public testing::WithParamInterface<Element> {
 protected:
  Counted multiply(std::int64_t m, std::int64_t n, std::int64_t k) {
    const GemmShape shape{m, n, k, GetParam()};
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    return run(int4_gemm_problem(shape, 3), [=](std::span<void* const> p, cudaStream_t stream) {
      launch_gemm_int4(shape, p[0], p[1], p[2], p[3], stream);
    });
  }
};

// One group, fewer than warps, more, an odd number; each count of tiles of tokens; odd n.
TEST_P(FourBitGemm, IsRightAtTheEdges) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 128},
                                {8, 16, 1024},
                                {9, 33, 384},
                                {17, 40, 17 * 128},
                                {33, 7, 256},
                                {64, 31, 1152}})
    multiply(m, n, k);
}

TEST_P(FourBitGemm, Counts) {
  const double m = 16, n = 128, k = 2048;
  const Counted counted = multiply(16, 128, 2048);
  const Work work = int4_gemm_work({16, 128, 2048, GetParam()});
  // Half a byte per weight, and four bytes per group.
  EXPECT_EQ(work.bytes_read, m * k * 2 + n * k / 2 + n * k / 128 * 4);
  expect_compulsory_dram(counted, work);
  EXPECT_EQ(counted.of("mma_f16") / 32 * 2 * 16 * 8 * 16, 2 * m * n * k);
  // Differences in pairs; each lane makes its rows' subtrahends, four lanes per row.
  EXPECT_EQ(counted.of("fp16"), n * k / 2 + 4 * n * k / 128);
  EXPECT_EQ(work.ops.at(to_string(GetParam())), 2 * m * n * k + n * k);
  // A multiply-add per result and group; eight warps' sums.
  EXPECT_EQ(counted.of("fp32"), work.ops.at("f32") / 2 + 8 * m * n);
}

INSTANTIATE_TEST_SUITE_P(EachType, FourBitGemm, testing::Values(Element::bf16, Element::f16),
                         [](const auto& test) { return to_string(test.param); });

// Each weight has four bits of its own, all of them together half a byte each; two neighbours are
// 16 bits apart in one word.
TEST(FourBitLayout, IsOneToOne) {
  const GemmShape shape{1, 3, 256, Element::f16};
  std::set<std::int64_t> places;
  for (std::int64_t n = 0; n < shape.n; ++n)
    for (std::int64_t k = 0; k < shape.k; ++k) {
      const auto [byte, shift] = int4_place(shape, n, k);
      places.insert(8 * byte + shift);
      EXPECT_EQ(byte / 64, (n * shape.k + k) / 128);
      if (k % 2 == 0) {
        const NibblePlace next = int4_place(shape, n, k + 1);
        EXPECT_EQ(8 * next.byte + next.shift, 8 * byte + shift + 16);
        EXPECT_EQ(next.byte / 4, byte / 4);
      }
    }
  EXPECT_EQ(places.size(), 3U * 256);
  EXPECT_EQ(*places.rbegin(), 3 * 256 * 4 - 4);
}

}  // namespace
}  // namespace warpmeter
