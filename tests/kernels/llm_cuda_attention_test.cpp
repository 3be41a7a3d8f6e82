// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// CUDA attention: each type and head size, odd contexts, and counters against the work model.
#include <map>
#include <set>

#include "kernels/llm/attention.h"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/table.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class AttentionKernels : public OnEmulatedGpu, public testing::WithParamInterface<Element> {
 protected:
  static Launch decode_launch(const DecodeShape& shape) {
    return [=](std::span<void* const> p, cudaStream_t stream) {
      launch_attention_decode(
          shape, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], packed_row(shape)}, stream);
    };
  }

  // Each sequence has its length.
  Counted decode(const DecodeShape& shape, std::vector<std::int32_t> lengths) {
    SCOPED_TRACE(testing::Message()
                 << shape.batch << " x " << shape.heads << " / " << shape.kv_heads << " heads of "
                 << shape.head_size << " over " << shape.context << " in pages of " << shape.page
                 << " of " << to_string(shape.cache));
    return run(attention_decode_problem(shape, lengths, 3), decode_launch(shape));
  }

  // All sequences have shape.context.
  Counted decode(const DecodeShape& shape) {
    return decode(shape, std::vector<std::int32_t>(static_cast<std::size_t>(shape.batch),
                                                   static_cast<std::int32_t>(shape.context)));
  }

  // Multiply-adds of m16n8k16, each of which is one instruction of 32 threads.
  static double macs(const Counted& counted) { return counted.of("mma_f16") / 32 * 16 * 8 * 16; }

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

// One position, less than a step, odd ones, one and several chunks; one to eight heads per KV head;
// pages of a step and of several.
TEST_P(AttentionKernels, DecodeIsRightAtTheEdges) {
  for (const auto& [batch, heads, kv_heads, context, page] :
       {std::array<std::int64_t, 5>{1, 1, 1, 1, 16},
        {1, 4, 1, 7, 32},
        {2, 6, 2, 33, 16},
        {1, 8, 1, 256, 128},
        {1, 16, 2, 257, 16},
        {3, 3, 3, 100, 64}})
    decode({{batch, heads, kv_heads, 64, context, GetParam()}, page, GetParam()});
}

TEST_P(AttentionKernels, DecodeTakesEachSizeAndCache) {
  for (const Element cache : {GetParam(), Element::e4m3})
    for (const std::int64_t size : {64, 128, 256}) {
      decode({{1, 5, 1, size, 41, GetParam()}, 32, cache});
      decode({{2, 4, 2, size, 70, GetParam()}, 16, cache});
    }
}

// One position, a whole page, a part of the second chunk, all; what lies beyond is NaN.
TEST_P(AttentionKernels, DecodeTakesEachSequencesLength) {
  for (const Element cache : {GetParam(), Element::e4m3})
    decode({{4, 4, 2, 64, 600, GetParam()}, 32, cache}, {1, 32, 239, 600});
}

// With one position, whose weight is 1, the result is the value: all bytes but NaN, 64 in each of
// four heads.
TEST_P(AttentionKernels, DecodeConvertsE4m3Exactly) {
  const DecodeShape shape{{1, 4, 4, 64, 1, GetParam()}, 16, Element::e4m3};
  Problem problem = attention_decode_problem(shape, std::vector<std::int32_t>{1}, 3);
  const Operand &v = problem.operands[2], &scales = problem.operands[5], &o = problem.operands[6];
  scales.f32()[1] = 1;
  const auto byte = [](int i) { return static_cast<std::uint8_t>(i % 128 == 127 ? 0 : i); };
  for (int i = 0; i < 256; ++i) v.u8()[i / 64 * 16 * 64 + i % 64] = byte(i);
  problem.verify = [&] {
    for (int i = 0; i < 256; ++i) EXPECT_EQ(o.at(i), e4m3_to_float(byte(i))) << i;
  };
  run(std::move(problem), decode_launch(shape));
}

TEST_P(AttentionKernels, DecodeCounts) {
  for (const Element cache : {GetParam(), Element::e4m3}) {
    const DecodeShape shape{{2, 16, 2, 128, 512, GetParam()}, 16, cache};
    const Counted counted = decode(shape);
    const Work work = paged_attention_work(shape);
    EXPECT_NEAR(counted.dram_read, work.bytes_read, 0.02 * work.bytes_read);
    EXPECT_EQ(counted.launches, work.launches);
    EXPECT_EQ(2 * macs(counted), work.ops.at(to_string(GetParam())));
    // Each score once; per head and step of 16 positions one for its sums, in each of 8 lanes; five
    // of each thread for the warps' states (2 x 2 x 2 chunks of 128 threads: two, and of the first
    // eight threads four); of each result one per chunk and a division.
    EXPECT_EQ(counted.of("special_function"),
              1.5 * work.ops.at("exp") + 8 * (2 * 128 + 4 * 8) + 3 * work.bytes_written / 2);
  }
}

// One token, a part of a warp's, of a block's, whole blocks, several; shared and own KV heads.
TEST_P(AttentionKernels, PrefillIsRightAtTheEdges) {
  for (const auto& [size, batch, heads, kv_heads, context] :
       {std::array<std::int64_t, 5>{64, 1, 1, 1, 1},
        {64, 1, 2, 1, 7},
        {64, 2, 3, 3, 33},
        {64, 1, 1, 1, 64},
        {64, 1, 4, 2, 65},
        {64, 1, 1, 1, 200},
        {128, 2, 2, 1, 33},
        {128, 1, 1, 1, 130},
        {256, 2, 2, 1, 33},
        {256, 1, 1, 1, 130}}) {
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
  for (const auto& [size, tokens, keys] : {std::array<int, 3>{128, 256, 64}, {256, 128, 32}}) {
    const AttentionShape shape{1, 2, 1, size, tokens, GetParam()};
    const Counted counted = prefill(shape, packed_layout(shape));
    const Work work = causal_attention_work(shape);
    expect_compulsory_dram(counted, work);
    // Tiles of 64 x 64, those on the diagonal whole: 1 + 2 + ... per head.
    const double blocks = tokens / 64.0, scores = 2 * blocks * (blocks + 1) / 2 * 64 * 64;
    EXPECT_EQ(2 * macs(counted), 4 * scores * size);
    EXPECT_LT(work.ops.at(to_string(GetParam())), 4 * scores * size);
    // Each score once, `keys` of a row and step together one for its sums in each of four lanes,
    // and the division of each row by its weight in four lanes.
    EXPECT_EQ(counted.of("special_function"), scores + 4 * scores / keys + 2 * 4 * tokens);
    EXPECT_EQ(counted.shared_conflicts, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(EachType, AttentionKernels, testing::Values(Element::bf16, Element::f16),
                         [](const auto& test) { return to_string(test.param); });

// (model, context) is on one side in all rows, and every row has both at each effort.
TEST(AttentionPoints, NeverSplitAGroup) {
  std::map<std::string, std::set<std::string>> sides;
  for (const Effort effort : {Effort::quick, Effort::standard, Effort::thorough})
    for (const Benchmark& row : cuda_attention_kernels()) {
      std::set<std::string> of_row;
      for (const Parameters& point : row.points(Device{}, effort)) {
        const std::string split = *word(point, "split");
        of_row.insert(split);
        sides[*word(point, "model") + std::to_string(*number(point, "context"))].insert(split);
        Device device;
        device.facts["compute_capability"] = {"9.0", std::nullopt, "test"};
        EXPECT_EQ(row.unsupported(device, point), std::nullopt) << to_string(point);
      }
      EXPECT_EQ(of_row.size(), 2U) << row.id;
    }
  for (const auto& [group, split] : sides) EXPECT_EQ(split.size(), 1U) << group;
}

// The nearest shape that works is named.
TEST(AttentionRefusals, SayWhatWouldDo) {
  const auto reason = [](const char* id, const Parameters& change) {
    for (const Benchmark& row : cuda_attention_kernels())
      if (row.id == id) {
        Parameters point = row.points(Device{}, Effort::quick).at(0);
        for (const auto& [name, value] : change) point[name] = value;
        return row.unsupported(Device{}, point).value_or("none");
      }
    return std::string("no such row");
  };
  EXPECT_EQ(reason("kernel.attention.decode", {{"page", 24.0}}),
            "pages of 24; a power of two from 16 on");
  EXPECT_EQ(reason("kernel.attention.decode", {{"page", 8.0}}),
            "pages of 8; a power of two from 16 on");
  EXPECT_EQ(reason("kernel.attention.decode", {{"cache", "int8"}}),
            "a cache of int8; there is e4m3 and the type of the queries");
  EXPECT_EQ(reason("kernel.attention.decode", {{"heads", 128.0}}),
            "128 heads over 8 KV heads; at most 8 each");
}

}  // namespace
}  // namespace warpmeter
