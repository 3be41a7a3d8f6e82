// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "kernels/llm/cuda/problems.h"

namespace warpmeter {

Problem rms_norm_backward_problem(const RowsShape& shape, std::uint32_t seed);
Problem cross_entropy_problem(const RowsShape& shape, std::uint32_t seed);

}  // namespace warpmeter
