// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectors/cupti_error.h"

namespace warpmeter {
namespace {

// In two words what a user must know; the code's full text is in docs/collectors.md.
std::string why_refused(const CounterConfig& configuration) {
  if (find_cupti_error(configuration.error) == nullptr || configuration.error == 999 ||
      configuration.error == 27) {
    return fmt::format("listed, but CUPTI cannot schedule it: {} returns {}", configuration.call,
                       cupti_error_name(configuration.error));
  }
  return fmt::format("listed, but {} returns {}", configuration.call,
                     describe_cupti_error(configuration.error));
}

std::string summary(const Resolution& resolution, const std::string& chip) {
  std::vector<std::string> absent, parts;
  for (const RefusedName& refusal : resolution.refusals) {
    if (refusal.error == 0)
      absent.push_back(refusal.name);
    else
      parts.push_back(fmt::format("{} is {}", refusal.name, refusal.why));
  }
  if (!absent.empty())
    parts.insert(parts.begin(),
                 fmt::format("{} does not list {}", chip, fmt::join(absent, " or ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

void resolve_name(const ChipHost& chip, const LogicalMetric& metric, Resolution& out) {
  for (const std::string& name : metric.names) {
    if (!chip.lists(name)) {
      out.refusals.push_back({name, 0, "not listed"});
      continue;
    }
    const CounterConfig alone = chip.configure({name});
    if (alone.error == 0) {
      out.name = name;
      out.passes = alone.passes;
      return;
    }
    out.refusals.push_back({name, alone.error, why_refused(alone)});
  }
}

// The counters below the inputs of a formula; refused ones leave their reason in `why`.
void gather(const ChipHost& chip, const Catalogue& catalogue, const LogicalMetric& metric,
            std::vector<PlannedCounter>& counters, std::string& why) {
  for (const std::string& id : metric.formula->inputs()) {
    const LogicalMetric& input = *catalogue.find(id);
    const Resolution resolution = resolve(chip, catalogue, input);
    if (resolution.refused()) {
      why = fmt::format("it needs {}: {}", id, resolution.why);
      return;
    }
    if (!resolution.name.empty())
      counters.push_back({resolution.name, input.scope, resolution.passes});
    else
      gather(chip, catalogue, input, counters, why);
  }
}

void resolve_formula(const ChipHost& chip, const Catalogue& catalogue, const LogicalMetric& metric,
                     Resolution& out) {
  std::vector<PlannedCounter> counters;
  std::string why;
  gather(chip, catalogue, metric, counters, why);
  if (!why.empty()) {
    out.why = out.refusals.empty() ? why : summary(out, chip.chip()) + "; " + why;
    return;
  }
  out.inputs = metric.formula->inputs();
  out.passes = total_passes(pack_for_replay(chip, counters));
}

}  // namespace

Resolution resolve(const ChipHost& chip, const Catalogue& catalogue, const LogicalMetric& metric) {
  Resolution out;
  out.metric = &metric;
  if (chip.error() != 0) {
    out.why = fmt::format("CUPTI does not plan {} for {}: {}",
                          chip.profiler() == Profiler::range ? "ranges" : "PM sampling",
                          chip.chip(), cupti_error_name(chip.error()));
    return out;
  }
  resolve_name(chip, metric, out);
  if (!out.name.empty()) return out;
  if (metric.formula)
    resolve_formula(chip, catalogue, metric, out);
  else
    out.why = summary(out, chip.chip());
  return out;
}

MetricPlan make_plan(const CuptiHost& cupti, const ChipHost& chip, const Catalogue& catalogue,
                     const std::vector<const LogicalMetric*>& asked) {
  MetricPlan plan{chip, cupti.version(), {}, {}, {}};
  std::vector<const LogicalMetric*> metrics = asked;
  std::vector<PlannedCounter> counters;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    plan.metrics.push_back(resolve(chip, catalogue, *metrics[i]));
    const Resolution& resolution = plan.metrics.back();
    if (!resolution.name.empty())
      counters.push_back({resolution.name, metrics[i]->scope, resolution.passes});
    for (const std::string& id : resolution.inputs) {
      const LogicalMetric* input = catalogue.find(id);
      if (std::find(metrics.begin(), metrics.end(), input) == metrics.end())
        metrics.push_back(input);
    }
  }
  plan.replay = pack_for_replay(chip, counters);
  plan.groups = pack(chip, std::move(counters));
  return plan;
}

std::size_t total_passes(const std::vector<PassGroup>& groups) {
  std::size_t sum = 0;
  for (const PassGroup& group : groups) sum += group.configuration.passes;
  return sum;
}

std::size_t MetricPlan::group_of(const Resolution& metric) const {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& names = groups[i].names;
    if (!metric.name.empty() && std::find(names.begin(), names.end(), metric.name) != names.end())
      return i + 1;
  }
  return 0;
}

}  // namespace warpmeter
