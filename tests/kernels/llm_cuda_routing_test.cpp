// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The CUDA kernels of mixtures of experts: each type, odd sizes, ties, and counters against work.
#include "kernels/llm/cuda/launch_moe.h"
#include "kernels/llm/cuda/routing_problems.h"
#include "kernels/llm/moe_permute.h"
#include "kernels/llm/moe_route.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

using Operands = std::span<void* const>;

class Routing : public OnEmulatedGpu {
 protected:
  Counted route(const RouteShape& shape, Problem problem) {
    return run(std::move(problem), [=](Operands p, cudaStream_t stream) {
      launch_moe_route(shape, p[0], p[1], p[2], stream);
    });
  }
  Counted permute(const PermuteShape& shape, Problem problem) {
    return run(std::move(problem), [=](Operands p, cudaStream_t stream) {
      launch_moe_permute(shape, p[0], p[1], p[2], p[3], p[4], p[5], p[6], stream);
    });
  }
  Counted permute(const PermuteShape& shape) {
    return permute(shape, moe_permute_problem(shape, 3));
  }
  Counted unpermute(const PermuteShape& shape) {
    return run(moe_unpermute_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_moe_unpermute(shape, p[0], p[1], p[2], p[3], stream);
    });
  }
  Counted route(const RouteShape& shape) { return route(shape, moe_route_problem(shape, 3)); }
};

// Fewer experts than a vector, than a warp, odd ones, several parts; all of them chosen.
TEST_F(Routing, RouteIsRightAtTheEdges) {
  for (const Element type : row_types)
    for (const auto& [experts, top] : {std::pair{1, 1},
                                       {8, 2},
                                       {7, 7},
                                       {33, 4},
                                       {60, 4},
                                       {128, 8},
                                       {160, 6},
                                       {256, 8},
                                       {384, 16},
                                       {511, 3},
                                       {512, 16}}) {
      const std::int64_t tokens = top % 2 == 0 ? 9 : 1;
      SCOPED_TRACE(testing::Message() << top << " of " << experts << ", " << to_string(type));
      route({tokens, experts, top, type});
    }
}

// Equal logits everywhere, so that each choice has to go by index; zeros of both signs are equal.
TEST_F(Routing, RouteTakesTheLowerOfEqualExperts) {
  for (const std::int64_t experts : {24, 33, 512}) {
    const RouteShape shape{6, experts, 16, Element::f32};
    Problem problem = moe_route_problem(shape, 3);
    float* logits = problem.operands[0].f32();
    for (std::int64_t i = 0; i < shape.tokens * experts; ++i) {
      const bool zeros = i / experts % 2 == 0;
      logits[i] = zeros ? (i % 3 == 0 ? 0.0f : -0.0f) : static_cast<float>(i * 7 % 5) - 9;
    }
    route(shape, std::move(problem));
  }
}

// Nothing but choosing depends on the size of the logits.
TEST_F(Routing, RouteTakesLogitsOfAnySize) {
  const RouteShape shape{2, 64, 3, Element::f32};
  Problem problem = moe_route_problem(shape, 3);
  float* logits = problem.operands[0].f32();
  for (std::int64_t i = 0; i < 128; ++i) logits[i] = i < 64 ? -3e38f : -1e-38f;
  logits[50] = 3e38f;
  logits[100] = 1e-38f;
  route(shape, std::move(problem));
}

// One token, odd rows, empty experts, several parts of a row, each width of a copy.
std::vector<PermuteShape> permute_edges() {
  std::vector<PermuteShape> shapes;
  for (const Element type : row_types)
    for (const auto& [experts, top] : {std::pair{1, 1}, {8, 2}, {512, 16}})
      for (const auto& [tokens, hidden, multiple] :
           {std::tuple{9, 1, 4}, {9, 6, 1}, {9, 40, 4}, {1, 2050, 1}})
        shapes.push_back({tokens, experts, top, hidden, multiple, type});
  return shapes;
}

std::string text(const PermuteShape& shape) {
  return std::to_string(shape.tokens) + " x " + std::to_string(shape.hidden) + " to " +
         std::to_string(shape.top) + " of " + std::to_string(shape.experts) + " by " +
         std::to_string(shape.multiple) + ", " + to_string(shape.type);
}

TEST_F(Routing, PermuteIsRightAtTheEdges) {
  for (const PermuteShape& shape : permute_edges()) {
    SCOPED_TRACE(text(shape));
    permute(shape);
  }
}

// Pairs of several blocks, with warps that have several times 32 and some that have none.
TEST_F(Routing, PermuteKeepsTheOrderOfTokensAcrossBlocks) {
  for (const auto& [tokens, experts, top] :
       {std::tuple{1025, 8, 2}, {700, 160, 6}, {513, 512, 16}, {8200, 16, 16}}) {
    const PermuteShape shape{tokens, experts, top, 1, 3, Element::bf16};
    SCOPED_TRACE(text(shape));
    permute(shape);
  }
}

TEST_F(Routing, PermuteTakesAllTokensToOneExpert) {
  const PermuteShape shape{1500, 64, 1, 8, 16, Element::f32};
  for (const std::int32_t expert : {0, 40, 63}) {
    Problem problem = moe_permute_problem(shape, 3);
    std::fill_n(problem.operands[1].i32(), shape.tokens, expert);
    permute(shape, std::move(problem));
  }
}

TEST_F(Routing, UnpermuteIsRightAtTheEdges) {
  for (const PermuteShape& shape : permute_edges()) {
    SCOPED_TRACE(text(shape));
    unpermute(shape);
  }
}

class RoutingCounters : public Routing, public testing::WithParamInterface<Element> {};

TEST_P(RoutingCounters, OfRoute) {
  const RouteShape shape{512, 128, 8, GetParam()};
  const Counted counted = route(shape);
  expect_compulsory_dram(counted, moe_route_work(shape));
  // A lane per choice: a difference, its factor log2(e), an exponential, a division. Besides, a
  // zero is added to each logit, and each lane adds five times for the sum.
  EXPECT_EQ(counted.of("fp32"), 512 * (128 + 2 * 8 + 5 * 32));
  EXPECT_EQ(counted.of("special_function"), 2 * moe_route_work(shape).ops.at("exp"));
}

TEST_P(RoutingCounters, OfPermute) {
  const PermuteShape shape{64, 128, 8, 1024, 1, GetParam()};
  const Counted counted = permute(shape);
  expect_compulsory_dram(counted, moe_permute_work(shape));
  EXPECT_EQ(counted.of("fp32"), 0);
  EXPECT_EQ(counted.of("atomic"), 0);
}

TEST_P(RoutingCounters, OfUnpermute) {
  const PermuteShape shape{64, 128, 8, 1024, 1, GetParam()};
  const Counted counted = unpermute(shape);
  expect_compulsory_dram(counted, moe_unpermute_work(shape));
  EXPECT_EQ(2 * counted.of("fp32"), moe_unpermute_work(shape).ops.at("f32"));
}

INSTANTIATE_TEST_SUITE_P(EachType, RoutingCounters, testing::ValuesIn(row_types),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace warpmeter
