// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "kernels/llm/cuda/problems.h"

namespace warpmeter {

Problem rms_norm_backward_problem(const RowsShape& shape, std::uint32_t seed);
Problem cross_entropy_problem(const RowsShape& shape, std::uint32_t seed);
// Of step adam_timed_step. Further executions repeat it with the same gradient: m and v tend to the
// gradient and its square, and decay bounds w, so that all stay finite.
Problem adam_problem(const RowsShape& shape, std::uint32_t seed);

}  // namespace warpmeter
