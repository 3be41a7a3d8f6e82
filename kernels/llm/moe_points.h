// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"
#include "kernels/llm/moe_shapes.h"

namespace warpmeter {

// The shapes of mixtures of experts, as in points.h; on GPUs only. `rows` counts tokens; `experts`
// and `top` (experts per token) are the model's,
// `columns` its hidden size, `multiple` what the rows of an expert are padded to. A group is a
// model.
std::vector<Parameters> moe_route_points(int threads, Effort effort);
std::vector<Parameters> moe_permute_points(int threads, Effort effort);
std::vector<Parameters> moe_unpermute_points(int threads, Effort effort);

// Throw InputError as those of point_shapes.h do.
RouteShape route_shape(const Parameters& point);
PermuteShape permute_shape(const Parameters& point);

}  // namespace warpmeter
