// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// CUDA attention by wgmma, on an emulated GPU of compute capability 9.0.
#include <cmath>

#include "kernels/llm/attention.h"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/table.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class WgmmaAttention : public OnEmulatedGpu, public testing::WithParamInterface<Element> {
 protected:
  Counted attend(const AttentionShape& shape) {
    SCOPED_TRACE(testing::Message()
                 << shape.batch << " x " << shape.heads << " / " << shape.kv_heads << " heads of "
                 << shape.head_size << ", tokens: " << shape.context);
    return run(attention_prefill_problem(shape, packed_layout(shape), 3),
               [=](std::span<void* const> p, cudaStream_t stream) {
                 launch_attention_sm90(shape, p[0], p[1], stream);
               });
  }
};

// One token, a part of a warp's, a part of the second warpgroup's, a whole block, several, more
// steps than stages; shared and own KV heads, several sequences.
TEST_P(WgmmaAttention, IsRightAtTheEdges) {
  for (const auto& [size, batch, heads, kv_heads, context] :
       {std::array<std::int64_t, 5>{64, 1, 1, 1, 1},
        {64, 2, 4, 2, 7},
        {64, 1, 2, 1, 100},
        {64, 1, 1, 1, 400},
        {128, 1, 1, 1, 128},
        {128, 2, 2, 1, 129}})
    attend({batch, heads, kv_heads, size, context, GetParam()});
}

// The keys of a tile may reach into the next sequence, whose numbers must not matter: not a number
// times a weight of zero would.
TEST_P(WgmmaAttention, ReadsNothingBeyondASequence) {
  const AttentionShape shape{2, 1, 1, 64, 40, GetParam()};
  Problem problem = attention_prefill_problem(shape, packed_layout(shape), 3);
  const Operand &qkv = problem.operands[0], &o = problem.operands[1];
  for (std::int64_t i = qkv.count / 2; i < qkv.count; ++i) qkv.bf16()[i] = 0xffff;
  problem.verify = [&] {
    for (std::int64_t i = 0; i < o.count; ++i)
      ASSERT_EQ(std::isnan(o.at(i)), i >= o.count / 2) << i;
  };
  run(std::move(problem), [=](std::span<void* const> p, cudaStream_t stream) {
    launch_attention_sm90(shape, p[0], p[1], stream);
  });
}

TEST_P(WgmmaAttention, Counts) {
  for (const std::int64_t size : {64, 128}) {
    const AttentionShape shape{1, 2, 1, size, 256, GetParam()};
    const Counted counted = attend(shape);
    const Work work = causal_attention_work(shape);
    expect_compulsory_dram(counted, work);
    // Per head three tiles of 128 x 128, two of them half masked. m64n128k16 for scores, m64n128k16
    // or m64n64k16 for values: of a warp's 32 threads, each counts.
    const double tiles = 2 * 3, scores = tiles * 128 * 128;
    EXPECT_EQ(counted.of("wgmma_f16"), tiles * 2 * 128 * (double(size) / 16 + 8));
    // Each score once, 128 of a row and step together one for its sums in each of four lanes, and
    // the division of each row by its weight in four lanes.
    EXPECT_EQ(counted.of("special_function"), scores + 4 * scores / 128 + 2 * 4 * 256);
    EXPECT_LT(work.ops.at(to_string(GetParam())), 4 * scores * double(size));
  }
}

INSTANTIATE_TEST_SUITE_P(EachType, WgmmaAttention, testing::Values(Element::bf16, Element::f16),
                         [](const auto& test) { return to_string(test.param); });

TEST(WgmmaAttentionRefusals, SayWhatWouldDo) {
  for (const Benchmark& row : cuda_attention_kernels()) {
    if (row.id != "kernel.attention.sm90") continue;
    Device device;
    device.facts["compute_capability"] = {"8.0", std::nullopt, "test"};
    Parameters point = row.points(Device{}, Effort::quick).at(0);
    EXPECT_EQ(
        row.unsupported(device, point),
        "compute capability 8.0: 9.0 is needed for wgmma; kernel.attention.prefill runs here");
    device.facts["compute_capability"] = {"9.0", std::nullopt, "test"};
    EXPECT_EQ(row.unsupported(device, point), std::nullopt);
    point["head_size"] = 256.0;
    EXPECT_EQ(row.unsupported(device, point),
              "head size 256; there is 64 and 128, and kernel.attention.prefill takes 256");
  }
}

}  // namespace
}  // namespace warpmeter
