// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The CUDA kernels of mixtures of experts: each type, odd sizes, ties, and counters against work.
#include "kernels/llm/cuda/launch_moe.h"
#include "kernels/llm/cuda/routing_problems.h"
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
                                       {512, 16}})
      for (const std::int64_t tokens : {1, 9}) {
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

INSTANTIATE_TEST_SUITE_P(EachType, RoutingCounters, testing::ValuesIn(row_types),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace warpmeter
