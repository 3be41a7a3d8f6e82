// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cli/list_metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectors/breakdown.h"
#include "collectors/plan.h"
#include "core/error.h"
#include "core/table.h"

namespace warpmeter {
namespace {

Profiler parse_collector(const std::string& text) {
  if (text.empty() || text == "range") return Profiler::range;
  if (text == "pm") return Profiler::pm;
  throw InputError(fmt::format("unknown collector \"{}\"; use range or pm", text));
}

std::vector<const LogicalMetric*> asked_for(const std::string& set) {
  const Catalogue& catalogue = Catalogue::built_in();
  if (!set.empty()) return catalogue.of_set(set);
  std::vector<const LogicalMetric*> all;
  for (const LogicalMetric& metric : catalogue.metrics()) all.push_back(&metric);
  return all;
}

std::string group_text(const MetricPlan& plan, const Resolution& resolution) {
  if (!resolution.name.empty()) return std::to_string(plan.group_of(resolution));
  std::vector<std::string> groups;
  for (const std::string& input : resolution.inputs) {
    for (const Resolution& other : plan.metrics) {
      if (other.metric->id != input) continue;
      const std::string group = group_text(plan, other);
      if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    }
  }
  return fmt::format("{}", fmt::join(groups, "+"));
}

void print_groups(const MetricPlan& plan) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    const PassGroup& group = plan.groups[i];
    rows.push_back({std::to_string(i + 1), std::to_string(group.configuration.passes),
                    std::to_string(group.names.size()),
                    std::to_string(group.configuration.image.size()),
                    fmt::format("{:016x}", hash_image(group.configuration.image)),
                    group.instrumented ? "instruments the kernel: not for timing" : ""});
  }
  fmt::print("\n{}",
             format_table({"group", "passes", "counters", "image bytes", "FNV-1a", ""}, rows));
}

void print(const MetricPlan& plan) {
  std::vector<std::vector<std::string>> planned, lacking;
  for (const Resolution& resolution : plan.metrics) {
    const LogicalMetric& metric = *resolution.metric;
    if (resolution.refused()) {
      lacking.push_back({metric.id, resolution.why});
      continue;
    }
    const std::string name =
        resolution.name.empty() ? "= " + metric.formula->text() : resolution.name;
    planned.push_back({metric.id, std::string(to_string(metric.unit)),
                       std::to_string(resolution.passes), group_text(plan, resolution), name});
  }
  fmt::print("{}", format_table({"id", "unit", "passes", "group", "counter"}, planned));
  if (!plan.groups.empty()) print_groups(plan);
  if (!lacking.empty())
    fmt::print("\n{} lacks:\n{}", plan.chip.chip(), format_table({"id", "because"}, lacking));
  fmt::print(
      "\n{} of {} metrics in {} groups of {} passes in all; {} passes if all are replayed "
      "together\n"
      "planned by CUPTI {}, not checked on a device\n",
      planned.size(), plan.metrics.size(), plan.groups.size(), total_passes(plan.groups),
      total_passes(plan.replay), plan.cupti_version);
  if (plan.chip.profiler() == Profiler::pm)
    fmt::print("PM sampling collects one group of one pass at a time, never a group of more\n");
}

void print_tree(const Breakdown& breakdown, std::size_t depth) {
  fmt::print("{:{}}{}\n", "", 2 * depth, breakdown.name);
  for (const std::string& counter : breakdown.counters)
    fmt::print("{:{}}{}\n", "", 2 * depth + 2, counter);
  for (const Breakdown& part : breakdown.parts) print_tree(part, depth + 1);
}

// An id stands for the first of its names that the chip lists.
std::string throughput_of(const ChipHost& chip, const std::string& asked) {
  const LogicalMetric* metric = Catalogue::built_in().find(asked);
  if (metric == nullptr) return asked;
  for (const std::string& name : metric->names)
    if (chip.lists(name)) return name;
  const Resolution resolution = resolve(chip, Catalogue::built_in(), *metric);
  throw InputError(fmt::format("no breakdown of {}: {}", asked,
                               resolution.refused() ? resolution.why : "it is computed"));
}

void list_breakdown(const CuptiHost& cupti, const ChipHost& chip,
                    const MetricsArguments& arguments) {
  const std::string throughput = throughput_of(chip, arguments.breakdown);
  const Breakdown tree = read_breakdown(cupti, chip.chip(), throughput);
  if (arguments.json)
    fmt::print("{}\n", to_json(tree).dump(1));
  else
    print_tree(tree, 0);
}

}  // namespace

bool list_metrics(const MetricsArguments& arguments) {
  const Profiler profiler = parse_collector(arguments.collector);
  const auto asked = asked_for(arguments.set);
  const CuptiHost& cupti = CuptiHost::open();
  if (arguments.chip.empty())
    throw InputError(
        fmt::format("--metrics needs --chip: one of {}", fmt::join(cupti.chips(), " ")));
  const ChipHost chip = cupti.chip(arguments.chip, profiler);
  if (!arguments.breakdown.empty()) {
    if (!arguments.set.empty()) throw InputError("--breakdown and --set exclude each other");
    list_breakdown(cupti, chip, arguments);
    return true;
  }
  const MetricPlan plan = make_plan(cupti, chip, Catalogue::built_in(), asked);
  if (arguments.json) {
    fmt::print("{}\n", to_json(plan).dump(1));
  } else if (chip.error() == 0) {
    print(plan);
  }
  if (chip.error() != 0) fmt::print(stderr, "warpmeter: {}\n", plan.metrics.front().why);
  return chip.error() == 0;
}

}  // namespace warpmeter
