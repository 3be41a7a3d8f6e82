// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The catalogue against every chip that CUPTI knows.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "plan_support.h"

namespace warpmeter {
namespace {

class Chips : public WithCupti {};

void check_resolution(const ChipHost& chip, const Resolution& r) {
  const std::string where =
      fmt::format("{} {} {}: {}", chip.chip(), to_string(chip.profiler()), r.metric->id, r.why);
  EXPECT_EQ(r.refused(), r.name.empty() && r.inputs.empty()) << where;
  EXPECT_EQ(r.refused(), r.passes == 0) << where;
  if (!r.refused()) return;
  EXPECT_EQ(r.why.find('\n'), std::string::npos) << where;
  EXPECT_NE(r.why.find(chip.chip()), std::string::npos) << where;
  const std::size_t tried = chip.error() == 0 ? r.metric->names.size() : 0;
  EXPECT_EQ(r.refusals.size(), tried) << where;
  for (const RefusedName& refusal : r.refusals) {
    EXPECT_EQ(chip.lists(refusal.name), refusal.error != 0) << where;
    EXPECT_NE(r.why.find(refusal.name), std::string::npos) << where;
  }
}

class EachChip : public Chips, public testing::WithParamInterface<std::string> {};

TEST_P(EachChip, HasEveryMetricOrAReason) {
  for (const Profiler profiler : both_profilers) {
    const ChipHost chip = cupti_->chip(GetParam(), profiler);
    for (const LogicalMetric& metric : Catalogue::built_in().metrics())
      check_resolution(chip, resolve(chip, Catalogue::built_in(), metric));
  }
}

INSTANTIATE_TEST_SUITE_P(Cupti, EachChip, testing::ValuesIn(known_chips),
                         [](const auto& chip) { return chip.param; });

TEST_F(Chips, EveryNameIsOfSomeChip) {
  std::vector<ChipHost> chips;
  for (const std::string& name : golden_chips)
    for (const Profiler profiler : both_profilers) chips.push_back(cupti_->chip(name, profiler));
  for (const LogicalMetric& metric : Catalogue::built_in().metrics()) {
    for (const std::string& name : metric.names) {
      EXPECT_TRUE(std::any_of(chips.begin(), chips.end(), [&](const ChipHost& chip) {
        return chip.lists(name) && chip.configure({name}).error == 0;
      })) << name;
    }
  }
}

TEST_F(Chips, ListedIsNotSchedulable) {
  needs_known_version();
  if (IsSkipped()) return;
  const Catalogue catalogue = Catalogue::read(
      Json::parse(R"({"schema": "warpmeter.metric_catalogue/1", "metrics": [{"id": "x", "unit": "1",
        "scope": "context", "means": "", "sets": [],
        "names": ["lts__none.sum", "lts__t_requests_srcnode_gpc_realtime.sum", "lts__t_sectors.sum"]}]})"),
      "test");
  const ChipHost chip = cupti_->chip("GB202", Profiler::range);
  const Resolution r = resolve(chip, catalogue, *catalogue.find("x"));
  EXPECT_EQ(r.name, "lts__t_sectors.sum");
  ASSERT_EQ(r.refusals.size(), 2U);
  EXPECT_EQ(r.refusals[0].error, 0);
  EXPECT_EQ(r.refusals[1].error, 999);
}

// The unit and scale that CUPTI's own statement asks for. (13.1 states the unit without the
// roll-up.)
std::pair<Unit, double> expected_unit(const std::string& stated) {
  const auto ends = [&](const std::string& tail) {
    return stated.size() >= tail.size() && stated.substr(stated.size() - tail.size()) == tail;
  };
  const bool rate = stated.find('/') != std::string::npos;
  if (stated == "percent") return {Unit::one, 0.01};
  if (stated == "nanosecond") return {Unit::second, 1e-9};
  if (stated == "byte") return {Unit::byte, 1};
  if (stated == "math_op") return {Unit::op, 1};
  if (ends("_cycle/second")) return {Unit::hertz, 1};
  if (stated.rfind("byte/", 0) == 0 && ends("_cycle")) return {Unit::byte_per_cycle, 1};
  if (stated.rfind("instruction/", 0) == 0 && ends("_cycle")) return {Unit::op_per_cycle, 1};
  if (ends("_cycle") && !rate) return {Unit::cycle, 1};
  return {Unit::one, 1};
}

TEST_F(Chips, UnitsAgreeWithCupti) {
  needs_known_version();
  if (IsSkipped()) return;
  for (const std::string& name : golden_chips) {
    for (const Profiler profiler : both_profilers) {
      const ChipHost chip = cupti_->chip(name, profiler);
      for (const LogicalMetric& metric : Catalogue::built_in().metrics()) {
        const Resolution r = resolve(chip, Catalogue::built_in(), metric);
        if (r.name.empty()) continue;
        const auto [unit, scale] = expected_unit(chip.unit(r.name));
        EXPECT_EQ(to_string(metric.unit), to_string(unit)) << r.name << " " << chip.unit(r.name);
        EXPECT_EQ(metric.scale, scale) << r.name;
      }
    }
  }
}

// A counter of a context goes with an L2 counter and not with one of a link, and the other way
// round.
TEST_F(Chips, ScopesAreThoseOfCupti) {
  for (const std::string& name : golden_chips) {
    const ChipHost chip = cupti_->chip(name, Profiler::range);
    const std::string link =
        chip.lists("nvlrx__bytes") ? "nvlrx__bytes.sum" : "pcie__read_bytes.sum";
    for (const LogicalMetric& metric : Catalogue::built_in().metrics()) {
      const Resolution r = resolve(chip, Catalogue::built_in(), metric);
      if (r.name.empty()) continue;
      const bool with_l2 = chip.configure({r.name, "lts__t_sectors.sum"}).error == 0;
      const bool with_link = chip.configure({r.name, link}).error == 0;
      EXPECT_EQ(with_l2, metric.scope != CounterScope::device) << name << " " << r.name;
      EXPECT_EQ(with_link,
                metric.scope == CounterScope::device || metric.scope == CounterScope::any)
          << name << " " << r.name;
    }
  }
}

}  // namespace
}  // namespace warpmeter
