// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pm_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectors/cupti_error.h"
#include "core/error.h"

namespace warpmeter {

std::unique_ptr<HostSession> open_pm_host(const CuptiApi& api, const std::string& chip,
                                          const std::vector<std::uint8_t>& availability) {
  auto host = std::make_unique<HostSession>(host_functions(api), chip, Profiler::pm, availability);
  const std::string call = fmt::format("cuptiProfilerHostInitialize for chip \"{}\"", chip);
  check_cupti(static_cast<CUptiResult>(host->error()), "pm", call.c_str());
  return host;
}

std::vector<std::string> PmPlan::names() const {
  std::vector<std::string> names;
  for (const PmCounter& counter : counters) names.push_back(counter.name);
  return names;
}

namespace {

class Planner {
 public:
  Planner(const CuptiApi& api, const std::string& chip,
          const std::vector<std::uint8_t>& availability)
      : api_(api), chip_(chip), availability_(availability) {}

  void put(const LogicalMetric& metric) {
    std::vector<std::string> reasons;
    for (const std::string& name : metric.names) {
      const CounterConfig alone = configure({name});
      if (alone.error != 0) {
        reasons.push_back(
            fmt::format("{}: {} returns {}", name, alone.call, cupti_error_name(alone.error)));
        continue;
      }
      if (alone.passes != 1) {
        reasons.push_back(fmt::format("{} takes {} passes", name, alone.passes));
        continue;
      }
      std::vector<std::string> names = plan.names();
      names.push_back(name);
      CounterConfig joined = configure(names);
      if (joined.error == 0 && joined.passes == 1) {
        plan.counters.push_back({&metric, name});
        plan.image = std::move(joined.image);
        return;
      }
      reasons.push_back(name + " does not fit the one pass beside those before it");
    }
    plan.refused.push_back({metric.id, fmt::format("{}", fmt::join(reasons, "; "))});
  }

  PmPlan plan;

 private:
  CounterConfig configure(const std::vector<std::string>& names) {
    return open_pm_host(api_, chip_, availability_)->configure(names);
  }

  const CuptiApi& api_;
  const std::string& chip_;
  const std::vector<std::uint8_t>& availability_;
};

}  // namespace

PmPlan plan_pm(const CuptiApi& api, const std::string& chip,
               const std::vector<std::uint8_t>& availability, const Catalogue& catalogue,
               const std::vector<const LogicalMetric*>& asked) {
  Planner planner(api, chip, availability);
  std::vector<const LogicalMetric*> metrics = asked;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const LogicalMetric& metric = *metrics[i];
    if (metric.scope == CounterScope::instrumented) {
      planner.plan.refused.push_back({metric.id, "it patches kernels: not for PM sampling"});
    } else if (!metric.names.empty()) {
      planner.put(metric);
    } else {
      planner.plan.derived.push_back(metric.id);
      for (const std::string& id : metric.formula->inputs()) {
        const LogicalMetric* input = catalogue.find(id);
        if (std::find(metrics.begin(), metrics.end(), input) == metrics.end())
          metrics.push_back(input);
      }
    }
  }
  if (planner.plan.counters.empty())
    throw InputError(
        fmt::format("pm: chip \"{}\" samples none of the metrics asked for{}", chip,
                    planner.plan.refused.empty() ? "" : ": " + planner.plan.refused.front().why));
  return std::move(planner.plan);
}

}  // namespace warpmeter
