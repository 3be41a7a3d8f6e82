// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/model/synthetic.h"

#include <cmath>
#include <random>

#include "model/predict.h"

namespace warpmeter {

Machine true_machine(const Truth& truth) {
  Machine machine = planted_machine();
  set_overlap(machine, truth.p);
  for (const auto& [family, o] : truth.overhead) set_overhead(machine, family, o.first, o.second);
  return machine;
}

Work work_of(std::size_t shape) {
  const double us = 3 * std::pow(2.0, static_cast<double>(shape));
  const double balance = std::pow(2.0, static_cast<double>(shape % 5) - 2);
  return {{{"f32", us * balance * 200e3}}, us * 20e3, 0, 64e6, 1};
}

Run synthetic_run(const Truth& truth, std::size_t shapes, double sigma, std::uint64_t seed) {
  const Machine machine = true_machine(truth);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, sigma);
  Run run;
  run.device = "cpu";
  for (const auto& [family, overhead] : truth.overhead) {
    for (std::size_t shape = 0; shape < shapes; ++shape) {
      Measurement row = kernel_row(family, "fit", static_cast<double>(shape), 1, work_of(shape));
      const double exact = *predict(machine, *row.work, row.parameters).time_s;
      row.value = exact * std::exp(sigma > 0 ? normal(random) : 0.0);
      run.measurements.push_back(std::move(row));
    }
  }
  return run;
}

}  // namespace warpmeter
