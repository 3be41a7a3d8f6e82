// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// CUDA attention: each type and head size, odd contexts, and counters against the work model.
#include "kernels/llm/attention.h"
#include "kernels/llm/cuda/launch_attention.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class AttentionKernels : public OnEmulatedGpu, public testing::WithParamInterface<Element> {
 protected:
  Counted decode(const AttentionShape& shape) {
    SCOPED_TRACE(testing::Message()
                 << shape.batch << " x " << shape.heads << " / " << shape.kv_heads << " heads of "
                 << shape.head_size << " over " << shape.context);
    return run(attention_decode_problem(shape, 3),
               [=](std::span<void* const> p, cudaStream_t stream) {
                 launch_attention_decode(shape, p[0], p[1], p[2], p[3], p[4], p[5], stream);
               });
  }

  Counted prefill(const AttentionShape& shape, const AttentionLayout& layout) {
    SCOPED_TRACE(testing::Message()
                 << shape.batch << " x " << shape.heads << " / " << shape.kv_heads << " heads of "
                 << shape.head_size << ", tokens: " << shape.context);
    return run(attention_prefill_problem(shape, layout, 3),
               [=](std::span<void* const> p, cudaStream_t stream) {
                 launch_attention_prefill(shape, layout, p[0], p[0], p[0], p[1], stream);
               });
  }
};

// One position, less than a step, odd ones, one and several chunks; one to eight heads per KV head.
TEST_P(AttentionKernels, DecodeIsRightAtTheEdges) {
  for (const std::int64_t size : {64, 128})
    for (const auto& [batch, heads, kv_heads, context] : {std::array<std::int64_t, 4>{1, 1, 1, 1},
                                                          {1, 4, 1, 7},
                                                          {2, 6, 2, 33},
                                                          {1, 8, 1, 256},
                                                          {1, 16, 2, 257},
                                                          {3, 3, 3, 100},
                                                          {1, 2, 1, 1000}})
      decode({batch, heads, kv_heads, size, context, GetParam()});
}

TEST_P(AttentionKernels, DecodeCounts) {
  const AttentionShape shape{2, 16, 2, 128, 512, GetParam()};
  const Counted counted = decode(shape);
  const Work work = attention_work(shape);
  EXPECT_NEAR(counted.dram_read, work.bytes_read, 0.02 * work.bytes_read);
  EXPECT_EQ(counted.launches, 2);
  // The matrix instructions have 16 rows, of which these 8 heads per KV head use half.
  EXPECT_EQ(counted.of("mma_f16") / 32 * 2 * 16 * 8 * 16, 2 * work.ops.at(to_string(GetParam())));
  // Four positions per lane and step, and one exponential for the sums; five of each thread for the
  // warps' states (4 x 2 chunks of 128 threads); of each result one per chunk and a division.
  EXPECT_EQ(counted.of("special_function"),
            1.25 * work.ops.at("exp") + 5 * 8 * 128 + 3 * work.bytes_written / 2);
}

// One token, a part of a warp's, of a block's, whole blocks, several; shared and own KV heads.
TEST_P(AttentionKernels, PrefillIsRightAtTheEdges) {
  for (const std::int64_t size : {64, 128})
    for (const auto& [batch, heads, kv_heads, context] : {std::array<std::int64_t, 4>{1, 1, 1, 1},
                                                          {1, 2, 1, 7},
                                                          {2, 3, 3, 33},
                                                          {1, 1, 1, 64},
                                                          {1, 4, 2, 65},
                                                          {1, 1, 1, 200}}) {
      const AttentionShape shape{batch, heads, kv_heads, size, context, GetParam()};
      prefill(shape, packed_layout(shape));
    }
}

// The other layout, and one in which all distances differ: operands that are only read may overlap,
// and go backward.
TEST_P(AttentionKernels, PrefillTakesAnyLayout) {
  const AttentionShape shape{2, 4, 2, 64, 70, GetParam()};
  const AttentionLayout packed = packed_layout(shape), contiguous = contiguous_layout(shape);
  prefill(shape, contiguous);
  HeadRows v = packed.v;
  v.first += 69 * v.token;
  v.token = -v.token;
  HeadRows o = packed.o;
  o.first += o.batch;
  o.batch = -o.batch;
  prefill(shape, {packed.q, contiguous.k, v, o});
}

TEST_P(AttentionKernels, PrefillCounts) {
  const AttentionShape shape{1, 2, 1, 128, 256, GetParam()};
  const Counted counted = prefill(shape, packed_layout(shape));
  const Work work = causal_attention_work(shape);
  expect_compulsory_dram(counted, work);
  // Tiles of 64 x 64, those on the diagonal whole: 1 + 2 + 3 + 4 per head.
  const double scores = 2 * 10 * 64 * 64;
  EXPECT_EQ(counted.of("mma_f16") / 32 * 2 * 16 * 8 * 16, 4 * scores * 128);
  EXPECT_LT(work.ops.at(to_string(GetParam())), 4 * scores * 128);
  // Each score once, 64 of a row and step together one for its sums in each of four lanes, and the
  // division of each row by its weight in four lanes.
  EXPECT_EQ(counted.of("special_function"), scores + 4 * scores / 64 + 2 * 4 * 256);
  EXPECT_EQ(counted.shared_conflicts, 0);
}

INSTANTIATE_TEST_SUITE_P(EachType, AttentionKernels, testing::Values(Element::bf16, Element::f16),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace warpmeter
