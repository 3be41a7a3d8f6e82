// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <cmath>

#include "model/predict.h"
#include "tests/model/planted.h"

namespace warpmeter {
namespace {

constexpr double z = 1.6448536269514722;  // half width of a 90 % interval in standard errors

Machine machine_with_discrepancy(double spread) {
  Machine machine = planted_machine();
  set_overlap(machine, 1);
  set_overhead(machine, "norm", 0, 0);
  Parameter discrepancy = known(spread, Unit::one);
  discrepancy.distribution = Json{{"quantiles", {{"0.05", -spread}, {"0.95", spread}}}};
  machine.parameters["model.discrepancy.norm"] = discrepancy;
  return machine;
}

// 200 us of f32 alone.
Prediction predict_compute(const Machine& machine) {
  return predict(machine, {{{"f32", 40e6}}, 0, 0, 0, 1}, kernel_parameters("norm"));
}

TEST(PredictInterval, IsAbsentWithAReasonIfTheDiscrepancyIsUnknown) {
  Machine machine = machine_with_discrepancy(0.1);
  machine.parameters.erase("model.discrepancy.norm");
  const Prediction prediction = predict_compute(machine);
  EXPECT_TRUE(prediction.time_s);
  EXPECT_FALSE(prediction.interval);
  EXPECT_NE(prediction.reason.find("model.discrepancy.norm"), std::string::npos);
}

TEST(PredictInterval, IsTheDiscrepancyIfAllParametersAreExact) {
  const Prediction prediction = predict_compute(machine_with_discrepancy(0.1));
  ASSERT_TRUE(prediction.interval);
  EXPECT_NEAR(std::log(prediction.interval->hi / *prediction.time_s), 0.1, 1e-9);
  EXPECT_NEAR(std::log(prediction.interval->lo / *prediction.time_s), -0.1, 1e-9);
}

TEST(PredictInterval, AddsTheCeilingsErrorInQuadrature) {
  Machine machine = machine_with_discrepancy(0.03);
  machine.parameters["throughput.fma.f32.device.sustained"] =
      known(200e9, Unit::op_per_second, {192e9, 208e9});  // 4 % either way
  const Prediction prediction = predict_compute(machine);
  const double share = 200.0 / 202;  // the rest is the launch
  EXPECT_NEAR(std::log(prediction.interval->hi / *prediction.time_s),
              std::hypot(0.03, 0.04 * share), 1e-6);
}

TEST(PredictInterval, TakesTheCovarianceWhereTheMachineHasOne) {
  Machine machine = machine_with_discrepancy(0);
  set_overhead(machine, "norm", 10e-6, 0.1);
  // Overhead and share perfectly anticorrelated: 4 us against 0.02 of 200 us cancel.
  machine.covariance.names = {"model.overhead.norm", "model.overhead.norm.share"};
  machine.covariance.matrix = {{16e-12, -0.08e-6}, {-0.08e-6, 4e-4}};
  const Prediction cancelled = predict_compute(machine);
  EXPECT_NEAR(cancelled.interval->hi / *cancelled.time_s, 1, 1e-9);
  machine.covariance.matrix = {{16e-12, 0}, {0, 4e-4}};
  const Prediction independent = predict_compute(machine);
  EXPECT_NEAR(std::log(independent.interval->hi / *independent.time_s),
              z * std::sqrt(2) * 4 / (2 + 10 + 220), 1e-6);
}

// Against finite differences: the error of each parameter alone, through the whole model.
TEST(PredictInterval, ElasticitiesAgreeWithFiniteDifferences) {
  Machine machine = machine_with_discrepancy(0);
  set_overlap(machine, 2.5);
  set_overhead(machine, "norm", 3e-6, 0.2);
  const Work work{{{"f32", 20e6}, {"exp", 0.3e6}}, 2e6, 5e5, 4e9, 2};
  const double time = *predict(machine, work, kernel_parameters("norm")).time_s;
  int used = 0;
  for (const auto& [name, parameter] : machine.parameters) {
    if (name.starts_with("model.discrepancy")) continue;
    Machine changed = machine;
    const double step = 1e-5 * *parameter.value;
    *changed.parameters[name].value += step;
    const double up = *predict(changed, work, kernel_parameters("norm")).time_s;
    *changed.parameters[name].value -= 2 * step;
    const double down = *predict(changed, work, kernel_parameters("norm")).time_s;
    Machine uncertain = machine;
    const double sigma = 0.01 * *parameter.value;
    uncertain.parameters[name].interval =
        Interval{*parameter.value - z * sigma, *parameter.value + z * sigma};
    const Prediction prediction = predict(uncertain, work, kernel_parameters("norm"));
    const double expected = z * 0.01 * std::abs(up - down) / (2e-5 * time);
    EXPECT_NEAR(std::log(prediction.interval->hi / time), expected, 1e-4 * expected + 1e-9) << name;
    used += expected > 1e-6;
  }
  EXPECT_EQ(used, 7);  // f32, dram read, triad, fork_join, p, overhead, share
}

}  // namespace
}  // namespace warpmeter
