// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/counter_plan.h"

#include <algorithm>
#include <array>

namespace warpmeter {
namespace {

bool of_context(std::string_view counter) {
  static constexpr std::array<std::string_view, 6> units = {"sm__",  "smsp__", "l1tex__",
                                                            "idc__", "tpc__",  "gpc__"};
  return std::any_of(units.begin(), units.end(),
                     [&](std::string_view unit) { return counter.starts_with(unit); });
}

}  // namespace

const WantedMetric* CounterPlan::find(std::string_view id) const {
  for (const WantedMetric& wanted : metrics)
    if (wanted.metric->id == id) return &wanted;
  return nullptr;
}

CounterPlan counter_plan(const MetricPlan& plan) {
  CounterPlan out;
  for (const Resolution& resolution : plan.metrics)
    out.metrics.push_back({resolution.metric, resolution.name, resolution.why});
  for (const PassGroup& group : plan.groups) out.groups.push_back(group.names);
  return out;
}

std::string_view scope_of(const CounterPlan& plan, const WantedMetric& metric) {
  if (metric.metric->scope == CounterScope::instrumented) return "kernel";
  if (!metric.counter.empty()) return of_context(metric.counter) ? "context" : "device";
  if (!metric.metric->formula) return "context";
  std::string_view scope = "context";
  for (const std::string& id : metric.metric->formula->inputs()) {
    const WantedMetric* input = plan.find(id);
    if (input == nullptr) continue;
    const std::string_view of_input = scope_of(plan, *input);
    if (of_input != "context") scope = of_input;
  }
  return scope;
}

}  // namespace warpmeter
