// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/check.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

namespace warpmeter {

void require_close(const char* what, std::int64_t index, double actual, double expected,
                   double tolerance) {
  if (std::abs(actual - expected) <= tolerance) return;
  throw std::runtime_error(
      fmt::format("corrupt: {}: element {} is {:.9g}, expected {:.9g} +- {:.3g}", what, index,
                  actual, expected, tolerance));
}

void require_written(const Operand& output) {
  std::int64_t missing = 0;
#pragma omp parallel for schedule(static) reduction(+ : missing)
  for (std::int64_t i = 0; i < output.count; ++i) missing += std::isnan(output.at(i)) ? 1 : 0;
  if (missing > 0)
    throw std::runtime_error(fmt::format("corrupt: {} of {} elements of {} were not written",
                                         missing, output.count, output.name));
}

std::vector<std::int64_t> sampled(std::int64_t count, std::int64_t limit, std::uint32_t seed) {
  if (count <= limit) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int64_t> any(0, count - 1);
  std::set<std::int64_t> chosen = {0, count - 1};
  while (static_cast<std::int64_t>(chosen.size()) < limit) chosen.insert(any(random));
  return {chosen.begin(), chosen.end()};
}

double sum_roundoff(std::int64_t count) {
  return 4 * std::sqrt(static_cast<double>(count)) * unit_roundoff(Element::f32);
}

double store_roundoff(Element type) { return type == Element::f32 ? 0.0 : unit_roundoff(type); }

}  // namespace warpmeter
