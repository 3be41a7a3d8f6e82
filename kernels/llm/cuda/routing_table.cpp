// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <limits>

#include "kernels/llm/cuda/launch_moe.h"
#include "kernels/llm/cuda/routing_problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/moe_permute.h"
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

Refusal permuted(const PermuteShape& shape) {
  if (permuted_rows(shape) > std::numeric_limits<std::int32_t>::max())
    return fmt::format("{} rows; row numbers are i32", permuted_rows(shape));
  return experts_per_token(shape);
}

const Row<PermuteShape> permute = {"kernel.moe.permute",
                                   "Counts by warp (match.sync), rows by prefix sums, then each "
                                   "token's row is read once and copied "
                                   "to its places, 16 bytes per thread.",
                                   moe_permute_points,
                                   permute_shape,
                                   moe_permute_work,
                                   moe_permute_problem,
                                   [](const PermuteShape& shape, Operands p, cudaStream_t stream) {
                                     launch_moe_permute(shape, p[0], p[1], p[2], p[3], p[4], p[5],
                                                        p[6], stream);
                                   },
                                   permuted};

const Row<PermuteShape> unpermute = {
    "kernel.moe.unpermute",
    "Weighted sum of a token's rows, 16 bytes of each per thread, in the order of its experts.",
    moe_unpermute_points,
    permute_shape,
    moe_unpermute_work,
    moe_unpermute_problem,
    [](const PermuteShape& shape, Operands p, cudaStream_t stream) {
      launch_moe_unpermute(shape, p[0], p[1], p[2], p[3], stream);
    },
    permuted};

}  // namespace

std::vector<Benchmark> cuda_routing_kernels() {
  return {benchmark(route), benchmark(permute), benchmark(unpermute)};
}

}  // namespace warpmeter
