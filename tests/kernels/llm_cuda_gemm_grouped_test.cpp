// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The CUDA product of a mixture of experts: experts without rows, with one, with several tiles.
#include <numeric>

#include "kernels/llm/cuda/launch_gemm.h"
#include "kernels/llm/gemm_grouped.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

using Counts = std::vector<std::int64_t>;

class GroupedGemms : public OnEmulatedGpu, public testing::WithParamInterface<Element> {
 protected:
  GroupedGemmShape shape_of(const Counts& rows, std::int64_t n, std::int64_t k) const {
    GroupedGemmShape shape;
    shape.rows = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
    shape.experts = static_cast<std::int64_t>(rows.size());
    shape.active = shape.experts - std::count(rows.begin(), rows.end(), 0);
    shape.n = n;
    shape.k = k;
    shape.type = GetParam();
    return shape;
  }

  Counted multiply(const Counts& rows, std::int64_t n, std::int64_t k) {
    const GroupedGemmShape shape = shape_of(rows, n, k);
    SCOPED_TRACE(testing::Message() << testing::PrintToString(rows) << " x " << n << " x " << k);
    return run(grouped_gemm_problem(shape, rows, 3),
               [=](std::span<void* const> p, cudaStream_t stream) {
                 launch_gemm_grouped(shape, p[0], p[1], p[2], p[3], stream);
               });
  }
};

// Counts of rows at `places` of `experts`, none elsewhere.
Counts sparse(std::size_t experts,
              std::initializer_list<std::pair<std::size_t, std::int64_t>> places) {
  Counts rows(experts);
  for (const auto& [expert, count] : places) rows[expert] = count;
  return rows;
}

TEST_P(GroupedGemms, AreRightAtTheEdges) {
  multiply({1}, 8, 8);
  multiply({0, 1, 0}, 16, 40);
  multiply({5, 0, 0, 130, 1}, 24, 72);
  multiply({127, 128, 129, 1}, 16, 32);
  multiply({2, 3}, 137, 45);  // odd: single elements
  // Experts in other chunks of 32, the last one of all among them.
  multiply(sparse(33, {{32, 3}}), 8, 16);
  multiply(sparse(128, {{0, 1}, {31, 2}, {32, 129}, {70, 1}, {127, 4}}), 8, 16);
}

TEST_P(GroupedGemms, ReadTheWeightsOfExpertsWithRowsOnly) {
  const Counts rows = {0, 128, 0, 256, 128, 0};
  const Counted counted = multiply(rows, 128, 256);
  const Work work = grouped_gemm_work(shape_of(rows, 128, 256));
  EXPECT_EQ(work.bytes_read, 2.0 * (512 * 256 + 3 * 128 * 256) + 4 * 7);
  expect_compulsory_dram(counted, work);
  EXPECT_EQ(counted.of("mma_f16") / 32 * 2 * 16 * 8 * 16, work.ops.at(to_string(GetParam())));
  EXPECT_EQ(counted.shared_conflicts, 0);
}

INSTANTIATE_TEST_SUITE_P(EachType, GroupedGemms, testing::Values(Element::bf16, Element::f16),
                         [](const auto& test) { return to_string(test.param); });

TEST(DrawnRows, AddUpAndLeaveExpertsOut) {
  const GroupedGemmShape shape{.rows = 100, .experts = 16, .active = 5, .n = 1, .k = 1};
  const Counts rows = draw_rows(shape, 7);
  EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}), 100);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), 0), 11);
  EXPECT_NE(rows, draw_rows(shape, 8));
}

}  // namespace
}  // namespace warpmeter
