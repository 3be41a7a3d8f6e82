// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Plans against tests/collectors/golden/CHIP.json, made by the disabled test below with the CUPTI
// whose version they carry: a change of the catalogue or the planner shows as a difference of these
// files.
#include <fmt/format.h>

#include <cstdlib>

#include "plan_support.h"

namespace warpmeter {
namespace {

class Golden : public WithCupti, public testing::WithParamInterface<std::string> {};

std::string file_of(const std::string& chip) {
  return fmt::format("{}/{}.json", WARPMETER_GOLDEN, chip);
}

Json groups_json(const std::vector<PassGroup>& groups) {
  Json out = Json::array();
  for (const PassGroup& group : groups) {
    const auto& image = group.configuration.image;
    out.push_back({{"passes", group.configuration.passes},
                   {"image", fmt::format("{} bytes, {:016x}", image.size(), hash_image(image))},
                   {"names", group.names}});
  }
  return out;
}

// "3 NAME", "2 = FORMULA", or "- REASON".
std::string resolution_text(const Resolution& r) {
  if (r.refused()) return "- " + r.why;
  return fmt::format("{} {}", r.passes, r.name.empty() ? "= " + r.metric->formula->text() : r.name);
}

Json plans_of(const CuptiHost& cupti, const std::string& name) {
  const Catalogue& catalogue = Catalogue::built_in();
  Json out = {{"cupti_version", cupti.version()}, {"chip", name}};
  for (const Profiler profiler : both_profilers) {
    const ChipHost chip = cupti.chip(name, profiler);
    Json metrics = Json::object(), sets = Json::object();
    for (const LogicalMetric& metric : catalogue.metrics())
      metrics[metric.id] = resolution_text(resolve(chip, catalogue, metric));
    for (const std::string& set : metric_sets()) {
      const MetricPlan plan = make_plan(cupti, chip, catalogue, catalogue.of_set(set));
      sets[set] = {{"groups", groups_json(plan.groups)}, {"replay", groups_json(plan.replay)}};
    }
    out[std::string(to_string(profiler))] = {{"metrics", metrics}, {"sets", sets}};
  }
  return out;
}

TEST_P(Golden, PlanIsUnchanged) {
  const Json expected = read_json(file_of(GetParam()));
  ASSERT_EQ(expected["cupti_version"].get<std::uint32_t>(), known_cupti_version);
  needs_known_version();
  if (IsSkipped()) return;
  const Json plans = plans_of(*cupti_, GetParam());
  if (plans == expected) return;
  ADD_FAILURE() << Json::diff(expected, plans).dump(1).substr(0, 3000);
}

TEST_P(Golden, DISABLED_Write) { write_json(file_of(GetParam()), plans_of(*cupti_, GetParam())); }

INSTANTIATE_TEST_SUITE_P(Chips, Golden, testing::ValuesIn(golden_chips),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace warpmeter
