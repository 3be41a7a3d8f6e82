// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"
#include "kernels/llm/moe_shapes.h"

namespace warpmeter {

// The shapes of mixtures of experts, as in points.h; on GPUs only. `rows` counts tokens; `experts`
// and `top` (experts per token) are the model's. A group is a model.
std::vector<Parameters> moe_route_points(int threads, Effort effort);

RouteShape route_shape(const Parameters& point);

}  // namespace warpmeter
