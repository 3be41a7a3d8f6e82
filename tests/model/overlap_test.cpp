// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/overlap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "model/predict.h"
#include "tests/model/planted.h"

namespace warpmeter {
namespace {

struct Truth {
  double p = 3;
  std::map<std::string, std::pair<double, double>> overhead = {
      {"gemm", {4e-6, 0.25}}, {"norm", {1e-6, 0.10}}, {"gather", {8e-6, 0.50}}};
};

Machine true_machine(const Truth& truth) {
  Machine machine = planted_machine();
  set_overlap(machine, truth.p);
  for (const auto& [family, o] : truth.overhead) set_overhead(machine, family, o.first, o.second);
  return machine;
}

// Shapes of a family over three decades of size, with compute over memory from 1/4 to 4.
Work work_of(std::size_t shape) {
  const double us = 3 * std::pow(2.0, static_cast<double>(shape));
  const double balance = std::pow(2.0, static_cast<double>(shape % 5) - 2);
  return {{{"f32", us * balance * 200e3}}, us * 20e3, 0, 64e6, 1};
}

// Times by the planted truth, each shape off by a log-normal factor.
warpmeter::Run synthetic_run(const Truth& truth, std::size_t shapes, double sigma, std::uint64_t seed) {
  const Machine machine = true_machine(truth);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, sigma);
  warpmeter::Run run;
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

// 200 noisy machines: how often the 90 % intervals hold the planted truth, and a new shape's time.
TEST(FitOverlap, IntervalsHoldTheTruthAboutNineTimesInTen) {
  const Truth truth;
  const Machine exact = true_machine(truth);
  std::mt19937_64 random(99);
  std::normal_distribution<double> normal(0, 0.06);
  std::map<std::string, std::pair<int, int>> held;  // inside, count
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Machine machine = planted_machine();
    fit_overlap(machine, synthetic_run(truth, 8, 0.06, seed), {100, 1});
    const auto judge = [&](const std::string& kind, const std::optional<Interval>& interval,
                           double expected) {
      held[kind].second += 1;
      held[kind].first += interval && interval->lo <= expected && expected <= interval->hi;
    };
    judge("overlap", machine.parameters["model.overlap"].interval, truth.p);
    for (const auto& [family, o] : truth.overhead) {
      const std::string name = "model.overhead." + family;
      judge("overhead", machine.parameters[name].interval, o.first);
      judge("share", machine.parameters[name + ".share"].interval, o.second);
      const Measurement row = kernel_row(family, "held_out", 100, 1, work_of(seed % 9));
      const double time = *predict(exact, *row.work, row.parameters).time_s;
      judge("new shape", predict(machine, *row.work, row.parameters).interval,
            time * std::exp(normal(random)));
    }
  }
  for (const auto& [kind, counts] : held) {
    const double share = static_cast<double>(counts.first) / counts.second;
    RecordProperty(kind, std::to_string(share));
    std::printf("%s: %.3f of %d\n", kind.c_str(), share, counts.second);
    EXPECT_GE(share, 0.85) << kind;
    EXPECT_LE(share, 0.95) << kind;
  }
}

}  // namespace
}  // namespace warpmeter
