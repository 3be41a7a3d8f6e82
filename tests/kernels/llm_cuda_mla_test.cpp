// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// CUDA multi-head latent attention: odd contexts, lengths and pages, and counters against the work
// model.
#include <cmath>

#include "kernels/llm/attention_mla.h"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/table.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class LatentAttention : public OnEmulatedGpu, public testing::WithParamInterface<Element> {
 protected:
  Counted attend(const MlaShape& shape, const std::vector<std::int32_t>& lengths) {
    SCOPED_TRACE(testing::Message() << shape.batch << " x " << shape.heads << " heads over "
                                    << shape.context << " in pages of " << shape.page);
    return run(attention_mla_problem(shape, lengths, 3),
               [=](std::span<void* const> p, cudaStream_t stream) {
                 launch_attention_mla(shape, {p[0], p[1], p[2], p[3], p[4], p[5], p[6]}, stream);
               });
  }
};

// 16 and 32 heads per block, one and several blocks; one position, parts of a step, of a page, one
// and two chunks.
TEST_P(LatentAttention, IsRightAtTheEdges) {
  for (const auto& [heads, context, page] : {std::array<std::int64_t, 3>{16, 1, 16},
                                             {16, 41, 32},
                                             {32, 16, 64},
                                             {48, 33, 16},
                                             {64, 23, 16},
                                             {16, 290, 64}})
    attend({1, heads, context, page, GetParam()}, {static_cast<std::int32_t>(context)});
}

// What lies beyond a sequence's length is NaN; one has no second chunk.
TEST_P(LatentAttention, TakesEachSequencesLength) {
  attend({3, 16, 270, 16, GetParam()}, {1, 144, 270});
  attend({3, 32, 40, 16, GetParam()}, {17, 40, 16});
}

TEST_P(LatentAttention, Counts) {
  for (const int heads : {16, 32}) {
    const MlaShape shape{1, heads, 288, 16, GetParam()};
    const Counted counted = attend(shape, {288});
    const Work work = mla_work(shape);
    EXPECT_NEAR(counted.dram_read, work.bytes_read, 0.02 * work.bytes_read);
    EXPECT_EQ(counted.launches, work.launches);
    EXPECT_EQ(2 * counted.of("mma_f16") / 32 * 16 * 8 * 16, work.ops.at(to_string(GetParam())));
    // Each score once, per step of 32 or 16 positions one of each of 128 threads for each eight
    // heads; of each result one per chunk (two) and a division.
    const double steps = 288 * heads / 16 / 32;
    EXPECT_EQ(counted.of("special_function"),
              work.ops.at("exp") + steps * 128 * heads / 8 + 3 * work.bytes_written / 2);
    EXPECT_EQ(counted.shared_conflicts, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(EachType, LatentAttention, testing::Values(Element::bf16, Element::f16),
                         [](const auto& test) { return to_string(test.param); });

// Before absorption a key has 128 elements without and 64 with a position.
TEST(LatentAttentionScale, IsThatOfTheExpandedForm) {
  EXPECT_DOUBLE_EQ(mla_scale, 1 / std::sqrt(128.0 + 64.0));
}

TEST(LatentAttentionRefusals, SayWhatWouldDo) {
  for (const Benchmark& row : cuda_attention_kernels()) {
    if (row.id != "kernel.attention.mla") continue;
    const auto reason = [&](const char* name, double value) {
      Parameters point = row.points(Device{}, Effort::quick).at(0);
      point[name] = value;
      return row.unsupported(Device{}, point).value_or("none");
    };
    EXPECT_EQ(reason("heads", 8), "8 heads; a multiple of 16, the rows of a matrix instruction");
    EXPECT_EQ(reason("kv_rank", 256), "latent rows of 256 + 64; there is 512 + 64");
    EXPECT_EQ(reason("page", 48), "pages of 48; a power of two from 16 on");
  }
}

}  // namespace
}  // namespace warpmeter
