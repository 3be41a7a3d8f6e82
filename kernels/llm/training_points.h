// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// The shapes of training, as in points.h; on GPUs only. A group is a model.
std::vector<Parameters> rms_norm_backward_points(int threads, Effort effort);
std::vector<Parameters> cross_entropy_points(int threads, Effort effort);
std::vector<Parameters> adam_points(int threads, Effort effort);

}  // namespace warpmeter
