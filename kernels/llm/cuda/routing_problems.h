// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/moe_shapes.h"

namespace warpmeter {

Problem moe_route_problem(const RouteShape& shape, std::uint32_t seed);
Problem moe_permute_problem(const PermuteShape& shape, std::uint32_t seed);
Problem moe_unpermute_problem(const PermuteShape& shape, std::uint32_t seed);

}  // namespace warpmeter
