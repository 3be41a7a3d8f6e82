// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/compare.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/model/planted.h"

namespace warpmeter {
namespace {

Machine machine_of(double latency, Interval interval) {
  Machine machine;
  machine.device = "cpu";
  machine.facts["cpu.model"] = {"planted", std::nullopt, "planted"};
  machine.parameters["latency.l1.hit"] = known(latency, Unit::second, interval);
  machine.parameters["latency.dram"] = known(100e-9, Unit::second, {90e-9, 110e-9});
  machine.parameters["capacity.l1"] = known(32768, Unit::byte);
  return machine;
}

TEST(Compare, CountsOverlapAndSizesTheDifference) {
  const Machine a = machine_of(2e-9, {1.9e-9, 2.1e-9});
  const Comparison same = compare(a, machine_of(2.2e-9, {2.1e-9, 2.3e-9}));  // ends touch
  EXPECT_EQ(same.compared, 2u);
  EXPECT_EQ(*same.share_overlapping(), 1);
  EXPECT_EQ(same.without_interval, std::vector<std::string>{"capacity.l1"});
  const Comparison apart = compare(a, machine_of(3e-9, {2.7e-9, 3.3e-9}));
  EXPECT_EQ(*apart.share_overlapping(), 0.5);
  ASSERT_EQ(apart.differences.size(), 1u);
  EXPECT_EQ(apart.differences[0].name, "latency.l1.hit");
  EXPECT_NEAR(apart.differences[0].change, 0.5, 1e-12);
  EXPECT_NEAR(apart.differences[0].gap, 0.3, 1e-12);  // 2.1 to 2.7 over 2
}

TEST(Compare, ListsTheLargestChangeFirstAndWhatOnlyOneHas) {
  Machine a = machine_of(2e-9, {1.9e-9, 2.1e-9}), b = machine_of(2.5e-9, {2.4e-9, 2.6e-9});
  b.parameters["latency.dram"] = known(20e-9, Unit::second, {19e-9, 21e-9});
  a.parameters["launch.fork_join"] = known(1e-6, Unit::second);
  b.parameters["clock.core.scalar"] = known(3e9, Unit::hertz);
  b.parameters["clock.core.vector"] = Parameter{};  // no value: in neither list
  const Comparison comparison = compare(a, b);
  ASSERT_EQ(comparison.differences.size(), 2u);
  EXPECT_EQ(comparison.differences[0].name, "latency.dram");
  EXPECT_NEAR(comparison.differences[0].change, -0.8, 1e-12);
  EXPECT_EQ(comparison.only_a, std::vector<std::string>{"launch.fork_join"});
  EXPECT_EQ(comparison.only_b, std::vector<std::string>{"clock.core.scalar"});
  const std::string table = format_table(comparison);
  EXPECT_NE(table.find("0 of 2 intervals overlap"), std::string::npos) << table;
  EXPECT_NE(table.find("-80.0 %"), std::string::npos) << table;
  EXPECT_EQ(to_json(comparison)["differences"][0]["name"], "latency.dram");
}

TEST(Compare, RefusesOtherDevicesAndSourcesUnlessAsked) {
  const Machine a = machine_of(2e-9, {1.9e-9, 2.1e-9});
  Machine b = a;
  b.source = Source::published;
  EXPECT_THROW(compare(a, b), InputError);
  EXPECT_EQ(compare(a, b, Mixing::allow).compared, 2u);
  b = a;
  b.device = "cuda:0";
  EXPECT_THROW(compare(a, b), InputError);
  b = a;
  b.facts["cpu.model"].value = "another";
  EXPECT_THROW(compare(a, b), InputError);
  b = a;
  b.parameters["latency.dram"].unit = Unit::cycle;
  EXPECT_THROW(compare(a, b, Mixing::allow), InputError);
}

TEST(Compare, NothingInCommonHasNoShare) {
  const Comparison comparison = compare(Machine{}, Machine{});
  EXPECT_FALSE(comparison.share_overlapping());
  EXPECT_TRUE(to_json(comparison)["share_overlapping"].is_null());
}

TEST(Compare, RunsAreComparedByMeasurementId) {
  warpmeter::Run a, b;
  a.measurements = {kernel_row("norm", "fit", 1, 1e-3, {}), kernel_row("norm", "fit", 2, 1e-3, {})};
  for (Measurement& m : a.measurements) m.interval = Interval{0.9e-3, 1.1e-3};
  b = a;
  b.measurements[0].value = 2e-3;
  b.measurements[0].interval = Interval{1.9e-3, 2.1e-3};
  const Comparison comparison = compare(a, b);
  EXPECT_EQ(*comparison.share_overlapping(), 0.5);
  EXPECT_EQ(comparison.differences[0].name, a.measurements[0].id);
  b.measurements[0].verdict = Verdict::contaminated;
  const Comparison without = compare(a, b);
  EXPECT_EQ(without.compared, 1u);
  EXPECT_EQ(without.only_a, std::vector<std::string>{a.measurements[0].id});
}

}  // namespace
}  // namespace warpmeter
