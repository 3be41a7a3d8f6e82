// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/points.h"

#include <algorithm>
#include <cmath>

namespace warpmeter {
namespace {

void shrink(Parameters& point) {
  point["model"] = word(point, "model").value_or("") + "/16";
  for (const char* width : {"columns", "n", "k", "context", "vocabulary", "experts", "active"})
    if (const auto value = number(point, width))
      point[width] = std::max(1.0, std::floor(*value / 16));
  // Weights in groups along k keep whole groups.
  if (const auto group = number(point, "group"))
    point["k"] = *group * std::ceil(*number(point, "k") / *group);
  for (const char* tokens : {"rows", "m"})
    if (const auto value = number(point, tokens)) point[tokens] = std::min(32.0, *value);
  if (const auto batch = number(point, "batch")) point["batch"] = std::min(2.0, *batch);
}

}  // namespace

std::vector<Parameters> device_points(std::vector<Parameters> points, const Device& device) {
  std::vector<Parameters> result;
  for (Parameters& point : points) {
    point.erase("threads");
    if (is_emulated(device)) shrink(point);
    // Shapes that differ in the rows only may have become the same.
    if (std::find(result.begin(), result.end(), point) == result.end()) result.push_back(point);
  }
  return result;
}

}  // namespace warpmeter
