// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pm_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectors/cupti_error.h"
#include "collectors/cupti_params.h"
#include "core/error.h"

namespace warpmeter {

PmHost::PmHost(const CuptiApi& api, const std::string& chip,
               const std::vector<std::uint8_t>& availability)
    : api_(api) {
  auto params = sized<CUpti_Profiler_Host_Initialize_Params>(
      CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  params.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  params.pChipName = chip.c_str();
  params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  const std::string call = fmt::format("cuptiProfilerHostInitialize for chip \"{}\"", chip);
  check_cupti(api_.cuptiProfilerHostInitialize(&params), "pm", call.c_str());
  object_ = params.pHostObject;
}

PmHost::~PmHost() {
  auto params = sized<CUpti_Profiler_Host_Deinitialize_Params>(
      CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  params.pHostObject = object_;
  (void)api_.cuptiProfilerHostDeinitialize(&params);
}

CounterConfig PmHost::configure(const std::vector<std::string>& names) const {
  return configure_counters(
      {api_.cuptiProfilerHostConfigAddMetrics, api_.cuptiProfilerHostGetConfigImageSize,
       api_.cuptiProfilerHostGetConfigImage, api_.cuptiProfilerHostGetNumOfPasses},
      object_, names);
}

CUptiResult PmHost::evaluate(const std::vector<std::uint8_t>& image, std::size_t index,
                             const std::vector<std::string>& names, double* values) const {
  std::vector<const char*> pointers = pointers_to(names);
  auto params = sized<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  params.pHostObject = object_;
  params.pCounterDataImage = image.data();
  params.counterDataImageSize = image.size();
  params.rangeIndex = index;
  params.ppMetricNames = pointers.data();
  params.numMetrics = pointers.size();
  params.pMetricValues = values;
  return api_.cuptiProfilerHostEvaluateToGpuValues(&params);
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
    return PmHost(api_, chip_, availability_).configure(names);
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
