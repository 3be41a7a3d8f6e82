// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/validation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/planted.h"

namespace warpmeter {
namespace {

// 20 Mop of f32: 100 us of compute and 2 us of launch; model 102 us. 2 MB: 100 us of DRAM.
const Work compute_work{{{"f32", 20e6}}, 0, 0, 0, 1};
const Work memory_work{{}, 2e6, 0, 64e6, 1};

Machine validated_machine() {
  Machine machine = planted_machine();
  machine.parameters["clock.core.vector"] = known(2e9, Unit::hertz);
  machine.facts["cpu.isa.fma"] = {true, std::nullopt, "planted"};
  machine.facts["cpu.isa.avx512f"] = {true, std::nullopt, "planted"};
  set_overlap(machine, 2);
  for (const std::string family : {"gemm", "gather"}) {
    set_overhead(machine, family, 0, 0);
    Parameter discrepancy = known(0.1, Unit::one);
    discrepancy.distribution = Json{{"quantiles", {{"0.05", -0.1}, {"0.95", 0.1}}}};
    machine.parameters["model.discrepancy." + family] = discrepancy;
  }
  return machine;
}

// Held out: errors of the model +2 %, -15 %, -49 %, each of another shape.
warpmeter::Run validation_run() {
  warpmeter::Run run;
  run.measurements = {kernel_row("gemm", "fit", 1, 50e-6, compute_work),
                      kernel_row("gemm", "fit", 2, 200e-6, compute_work),
                      kernel_row("gemm", "held_out", 3, 100e-6, compute_work),
                      kernel_row("gemm", "held_out", 4, 120e-6, compute_work),
                      kernel_row("gather", "held_out", 5, 200e-6, memory_work)};
  return run;
}

TEST(Validation, ScoresOfThreeRowsByHand) {
  const Validation validation = validate(validated_machine(), validation_run());
  const Score* all = find_score(validation, "model", "held_out", "all");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->rows, 3u);
  EXPECT_EQ(all->n, 3u);
  EXPECT_NEAR(*all->coverage(), 1, 1e-12);
  EXPECT_NEAR(*all->mape, (0.02 + 0.15 + 0.49) / 3, 1e-9);
  EXPECT_NEAR(*all->bias, (0.02 - 0.15 - 0.49) / 3, 1e-9);
  EXPECT_NEAR(*all->median, 0.15, 1e-9);
  EXPECT_NEAR(*all->p90, 0.15 + 0.8 * (0.49 - 0.15), 1e-9);
  EXPECT_NEAR(*all->within, 1.0 / 3, 1e-12);  // only +2 % lies inside 10 %
  ASSERT_TRUE(all->mape_interval);
  EXPECT_NEAR(all->mape_interval->lo, 0.02 + (0.15 - 0.02) / 3, 0.03);
  EXPECT_LE(all->mape_interval->hi, 0.49);
  EXPECT_GE(all->mape_interval->hi, *all->mape);
}

TEST(Validation, GroupsByFamilyAndByBound) {
  const Validation validation = validate(validated_machine(), validation_run());
  const Score* gemm = find_score(validation, "model", "held_out", "family", "gemm");
  ASSERT_TRUE(gemm);
  EXPECT_EQ(gemm->n, 2u);
  EXPECT_NEAR(*gemm->mape, 0.085, 1e-9);
  const Score* memory = find_score(validation, "model", "held_out", "bound", "memory.dram");
  ASSERT_TRUE(memory);
  EXPECT_NEAR(*memory->bias, -0.49, 1e-9);
  EXPECT_FALSE(memory->mape_interval);  // a single shape
  const Score* fitted = find_score(validation, "model", "fit", "all");
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(*fitted->mape, (1.04 + 0.49) / 2, 1e-9);
}

TEST(Validation, BaselinesByHand) {
  const Validation validation = validate(validated_machine(), validation_run());
  // Nameplate: 2 cores x 2 GHz x 64 = 256 Gop/s, 78.125 us; gather 100 us from 20 GB/s.
  const Score* plate = find_score(validation, "nameplate", "held_out", "all");
  ASSERT_TRUE(plate);
  EXPECT_NEAR(*plate->mape, ((1 - 0.78125) + (1 - 0.78125 / 1.2) + 0.5) / 3, 1e-9);
  EXPECT_FALSE(plate->within);
  // Mean: the geometric mean of 50 and 200 us is 100 us; no fitting row of gather.
  const Score* mean = find_score(validation, "mean", "held_out", "all");
  ASSERT_TRUE(mean);
  EXPECT_EQ(mean->n, 2u);
  EXPECT_NEAR(*mean->coverage(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(*mean->mape, (0 + 1.0 / 6) / 2, 1e-9);
}

TEST(Validation, ListsExcludedRowsWithTheirReason) {
  warpmeter::Run run = validation_run();
  Measurement bad = kernel_row("gemm", "held_out", 6, 1, compute_work);
  bad.verdict = Verdict::contaminated;
  bad.reason = "another process used 0.9 cores";
  Measurement unknown = kernel_row("softmax", "held_out", 7, 1e-4, compute_work);
  Measurement no_split = kernel_row("gemm", "held_out", 8, 1e-4, compute_work);
  no_split.parameters.erase("split");
  run.measurements.insert(run.measurements.end(), {bad, unknown, no_split});
  const Validation validation = validate(validated_machine(), run);
  ASSERT_EQ(validation.rows.size(), 7u);
  EXPECT_EQ(validation.rows[5].excluded, "verdict contaminated: another process used 0.9 cores");
  EXPECT_NE(validation.rows[6].excluded.find("model.overhead.softmax"), std::string::npos);
  const Score* all = find_score(validation, "model", "held_out", "all");
  EXPECT_EQ(all->rows, 4u);  // the contaminated one counts nowhere
  EXPECT_EQ(all->n, 3u);
  const Score* softmax = find_score(validation, "model", "held_out", "family", "softmax");
  EXPECT_EQ(softmax->n, 0u);
  EXPECT_FALSE(softmax->mape);
  const std::string table = format_table(validation);
  EXPECT_NE(table.find("another process used 0.9 cores"), std::string::npos);
}

TEST(Validation, WritesJsonWithNullsWhereNothingIsKnown) {
  const Json json = to_json(validate(validated_machine(), validation_run()));
  EXPECT_EQ(json["rows"].size(), 5u);
  EXPECT_NEAR(json["rows"][2]["model"].get<double>(), 102e-6, 1e-12);
  EXPECT_TRUE(json["rows"][4]["mean"].is_null());
  EXPECT_EQ(json["rows"][4]["bound"], "memory.dram");
  bool found = false;
  for (const Json& score : json["scores"]) {
    if (score["predictor"] != "mean" || score["name"] != "gather") continue;
    found = true;
    EXPECT_TRUE(score["mape"].is_null());
    EXPECT_EQ(score["coverage"], 0.0);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace warpmeter
