// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The paged KV cache: every bit of both caches, and counters against the work model.
#include <cmath>

#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/kv_append.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class Cache : public OnEmulatedGpu {
 protected:
  Counted append(const KvAppendShape& shape, int every_skipped = 0) {
    Problem problem = kv_append_problem(shape, 3);
    for (std::int64_t t = 0; every_skipped > 0 && t < shape.tokens; t += every_skipped)
      problem.operands[1].i32()[t] = -1;
    return run(std::move(problem), [=](std::span<void* const> p, cudaStream_t stream) {
      launch_kv_append(shape, p[0], p[1], p[2], p[3], p[4], stream);
    });
  }
};

struct Types {
  Element type, cache;
};
constexpr Types cache_types[] = {{Element::bf16, Element::bf16},
                                 {Element::f16, Element::f16},
                                 {Element::bf16, Element::e4m3},
                                 {Element::f16, Element::e4m3}};

TEST_F(Cache, AppendIsRightToTheBit) {
  for (const auto& [type, cache] : cache_types) {
    SCOPED_TRACE(to_string(type) + " to " + to_string(cache));
    append({1, 1, 1, 1, 1, 1, type, cache});
    append({5, 5, 3, 2, 6, 4, type, cache});
    append({40, 3, 4, 2, 64, 16, type, cache});
    append({9, 9, 8, 8, 128, 16, type, cache});
    append({7, 1, 2, 1, 24, 4, type, cache, 4 * 24 + 32});  // rows wider than packed ones
    append({7, 1, 2, 1, 16, 4, type, cache, 4 * 16 + 1});   // rows not of whole vectors
  }
}

// Every number that bf16 holds: subnormal ones, ties, those that saturate, infinity.
TEST_F(Cache, AppendConvertsEveryNumberToE4m3) {
  const KvAppendShape shape{64, 1, 0, 4, 128, 16, Element::bf16, Element::e4m3};
  Problem problem = kv_append_problem(shape, 3);
  const Operand& qkv = problem.operands[0];
  ASSERT_EQ(qkv.count, 1 << 16);
  for (std::int64_t i = 0; i < qkv.count; ++i)
    qkv.bf16()[i] = static_cast<std::uint16_t>(
        std::isnan(bf16_to_float(static_cast<std::uint16_t>(i))) ? 0 : i);
  for (const int which : {0, 1}) problem.operands[2].f32()[which] = 1;
  run(std::move(problem), [=](std::span<void* const> p, cudaStream_t stream) {
    launch_kv_append(shape, p[0], p[1], p[2], p[3], p[4], stream);
  });
}

TEST_F(Cache, AppendSkipsTokensWithoutASlot) {
  append({20, 4, 2, 2, 64, 4, Element::bf16, Element::bf16}, 3);
  append({20, 4, 2, 2, 64, 4, Element::bf16, Element::e4m3}, 1);
}

TEST_F(Cache, AppendDoesTheWorkOfTheModel) {
  for (const auto& [type, cache] : cache_types) {
    const KvAppendShape shape{64, 64, 8, 8, 128, 16, type, cache};
    SCOPED_TRACE(to_string(type) + " to " + to_string(cache));
    const Work work = kv_append_work(shape);
    const Counted counted = append(shape);
    expect_compulsory_dram(counted, work);
    const auto divisions = work.ops.find("f32");  // special functions to the emulator
    EXPECT_EQ(counted.of("special_function"), divisions == work.ops.end() ? 0 : divisions->second);
  }
}

}  // namespace
}  // namespace warpmeter
