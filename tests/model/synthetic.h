// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tests/model/planted.h"

namespace warpmeter {

// What a fit has to find: p, and for each family overhead (s) and share.
struct Truth {
  double p = 3;
  std::map<std::string, std::pair<double, double>> overhead = {
      {"gemm", {4e-6, 0.25}}, {"norm", {1e-6, 0.10}}, {"gather", {8e-6, 0.50}}};
};

// planted_machine() with the truth set.
Machine true_machine(const Truth& truth);

// Shapes of a family over three decades of size, with compute over memory from 1/4 to 4.
Work work_of(std::size_t shape);

// Times of `shapes` fitting shapes per family by the planted truth, each off by a log-normal
// factor.
Run synthetic_run(const Truth& truth, std::size_t shapes, double sigma, std::uint64_t seed);

}  // namespace warpmeter
