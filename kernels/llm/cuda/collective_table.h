// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "kernels/llm/cuda/collective_kernel.h"
#include "kernels/llm/cuda/launch_collective.h"

namespace warpmeter {

// Each rank's operands: "x", "y" and "signals" (launch_collective.h).
// `roundings`: all_reduce.h.
CollectiveProblem all_reduce_problem(const AllReduceShape& shape, std::uint32_t seed,
                                     int roundings = 1);
CollectiveLaunch all_reduce_launch(const AllReduceShape& shape);

}  // namespace warpmeter
