// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// The points of the host's kernel (kernels/llm/points.h) for a GPU: the same without `threads`. On
// an emulated GPU, which pays for each instruction, the shapes are of models a sixteenth as wide,
// with few rows; `model` then says so ("Llama-3-8B/16").
std::vector<Parameters> device_points(std::vector<Parameters> host_points, const Device& device);

}  // namespace warpmeter
