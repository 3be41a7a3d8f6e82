// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/launch_moe.h"
#include "kernels/llm/cuda/routing_problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/moe_points.h"
#include "kernels/llm/moe_route.h"

namespace warpmeter {
namespace {

template <class Shape>
Refusal experts_per_token(const Shape& shape) {
  if (shape.experts > most_experts)
    return fmt::format("{} experts; at most {}", shape.experts, most_experts);
  if (shape.top > most_top || shape.top > shape.experts)
    return fmt::format("top {} of {} experts; at most {}", shape.top, shape.experts,
                       std::min(most_top, shape.experts));
  return row_type(shape);
}

const Row<RouteShape> route = {
    "kernel.moe.route",
    "A warp per token, logits in registers; the maximum k times by redux.sync, then the softmax.",
    moe_route_points,
    route_shape,
    moe_route_work,
    moe_route_problem,
    [](const RouteShape& shape, Operands p, cudaStream_t stream) {
      launch_moe_route(shape, p[0], p[1], p[2], stream);
    },
    experts_per_token<RouteShape>};

}  // namespace

std::vector<Benchmark> cuda_routing_kernels() { return {benchmark(route)}; }

}  // namespace warpmeter
