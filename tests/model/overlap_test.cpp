// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/overlap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "model/predict.h"
#include "tests/model/synthetic.h"

namespace warpmeter {
namespace {

double value(const Machine& machine, const std::string& name) {
  const std::optional<double> found = value_of(machine, name);
  EXPECT_TRUE(found) << name << ": " << machine.parameters.at(name).reason;
  return found.value_or(NAN);
}

TEST(FitOverlap, RecoversThePlantedParametersFromExactTimes) {
  const Truth truth;
  Machine machine = planted_machine();
  fit_overlap(machine, synthetic_run(truth, 10, 0, 1), {20, 1});
  EXPECT_NEAR(value(machine, "model.overlap"), truth.p, 0.001 * truth.p);
  for (const auto& [family, o] : truth.overhead) {
    EXPECT_NEAR(value(machine, "model.overhead." + family), o.first, 0.01e-6);
    EXPECT_NEAR(value(machine, "model.overhead." + family + ".share"), o.second, 0.001);
    EXPECT_LT(value(machine, "model.discrepancy." + family), 0.01);
  }
  EXPECT_EQ(machine.parameters.at("model.overhead.norm").evidence.size(), 10u);
}

TEST(FitOverlap, ShrugsOffOneGrossOutlierPerFamily) {
  const Truth truth;
  warpmeter::Run run = synthetic_run(truth, 10, 0.02, 3);
  for (const std::size_t i : {4u, 15u, 26u}) *run.measurements[i].value *= 4;
  Machine machine = planted_machine();
  fit_overlap(machine, run, {20, 1});
  for (const auto& [family, o] : truth.overhead) {
    EXPECT_NEAR(value(machine, "model.overhead." + family + ".share"), o.second, 0.12);
  }
}

TEST(FitOverlap, NeverReadsHeldOutRows) {
  const Truth truth;
  warpmeter::Run run = synthetic_run(truth, 8, 0.05, 2);
  Machine without = planted_machine();
  fit_overlap(without, run, {20, 1});
  for (std::size_t shape = 8; shape < 12; ++shape) {
    run.measurements.push_back(
        kernel_row("norm", "held_out", static_cast<double>(shape), 1e-3, work_of(shape)));
  }
  Machine with = planted_machine();
  fit_overlap(with, run, {20, 1});
  EXPECT_EQ(to_json(with), to_json(without));
  for (Measurement& row : run.measurements) {
    if (word(row.parameters, "split") == "held_out") *row.value *= 7;
  }
  Machine changed = planted_machine();
  fit_overlap(changed, run, {20, 1});
  EXPECT_EQ(to_json(changed).dump(), to_json(without).dump());
}

TEST(FitOverlap, IgnoresRowsWithoutAUsableVerdict) {
  const Truth truth;
  warpmeter::Run run = synthetic_run(truth, 8, 0.05, 2);
  Machine without = planted_machine();
  fit_overlap(without, run, {20, 1});
  Measurement bad = kernel_row("norm", "fit", 99, 1, work_of(3));
  bad.verdict = Verdict::contaminated;
  run.measurements.push_back(bad);
  Machine with = planted_machine();
  fit_overlap(with, run, {20, 1});
  EXPECT_EQ(to_json(with), to_json(without));
}

TEST(FitOverlap, NothingToFitIsNotMeasured) {
  Machine machine = planted_machine();
  set_overlap(machine, 2);
  set_overhead(machine, "norm", 1, 1);  // left over from an earlier fit
  fit_overlap(machine, warpmeter::Run{});
  EXPECT_EQ(machine.parameters.at("model.overlap").status, Status::not_measured);
  EXPECT_FALSE(machine.parameters.at("model.overlap").reason.empty());
  EXPECT_FALSE(machine.parameters.contains("model.overhead.norm"));
}

TEST(FitOverlap, AFamilyWithoutCeilingsIsNotMeasuredAndSaysWhy) {
  warpmeter::Run run = synthetic_run(Truth{}, 6, 0.02, 1);
  Measurement row = kernel_row("int8", "fit", 1, 1e-3, {{{"int8", 1e6}}, 1e6, 0, 1e6, 1});
  run.measurements.push_back(row);
  Machine machine = planted_machine();
  fit_overlap(machine, run, {20, 1});
  const Parameter& overhead = machine.parameters.at("model.overhead.int8");
  EXPECT_EQ(overhead.status, Status::not_measured);
  EXPECT_NE(overhead.reason.find("throughput.fma.int8.device.sustained"), std::string::npos);
}

TEST(FitOverlap, OverlapIsNotIdentifiableFromKernelsWithASingleResource) {
  warpmeter::Run run;
  for (std::size_t shape = 0; shape < 6; ++shape) {
    const Work work{{}, 1e6 * static_cast<double>(shape + 1), 0, 64e6, 1};
    const double time = 3e-6 + work.bytes_read / 20e9 * 1.2;
    run.measurements.push_back(kernel_row("gather", "fit", static_cast<double>(shape), time, work));
  }
  Machine machine = planted_machine();
  fit_overlap(machine, run, {20, 1});
  EXPECT_EQ(machine.parameters.at("model.overlap").status, Status::not_identifiable);
  EXPECT_NEAR(value(machine, "model.overhead.gather.share"), 0.2, 0.001);
  EXPECT_NEAR(value(machine, "model.overhead.gather"), 1e-6, 1e-8);
}

TEST(FitOverlap, OneShapeHoldsItsWholeOverheadInTheShare) {
  const Truth truth;
  warpmeter::Run run = synthetic_run(truth, 8, 0, 1);
  const Work work = work_of(2);
  run.measurements.push_back(kernel_row("softmax", "fit", 1, 40e-6, work));
  Machine machine = planted_machine();
  fit_overlap(machine, run, {20, 1});
  EXPECT_EQ(machine.parameters.at("model.overhead.softmax").status, Status::not_identifiable);
  const Prediction prediction = predict(machine, work, kernel_parameters("softmax"));
  ASSERT_TRUE(prediction.time_s) << prediction.reason;
  EXPECT_NEAR(*prediction.time_s, 40e-6, 0.1e-6);
}

TEST(FitOverlap, ItsMachineSurvivesTheRoundTrip) {
  Machine machine = planted_machine();
  fit_overlap(machine, synthetic_run(Truth{}, 6, 0.05, 4), {50, 1});
  EXPECT_EQ(machine.covariance.names.size(), 7u);
  EXPECT_EQ(to_json(machine_from_json(to_json(machine), "here")), to_json(machine));
}

}  // namespace
}  // namespace warpmeter
