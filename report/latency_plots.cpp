// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/html.h"
#include "report/number_text.h"
#include "report/section.h"

namespace warpmeter {

namespace {

struct Level {
  const char* name;
  const char* latency;
  const char* capacity;
};
constexpr std::array levels = {
    Level{"L1", "latency.l1.hit", "capacity.l1"}, Level{"L2", "latency.l2.hit", "capacity.l2"},
    Level{"L3", "latency.l3.hit", "capacity.l3"}, Level{"DRAM", "latency.dram", ""}};

// The footprints that a parameter was taken from, else the whole plot.
Range footprints_of(const Parameter& parameter, const Range& all) {
  const auto found = parameter.valid_range.find("footprint");
  if (found == parameter.valid_range.end() || !found->is_array() || found->size() != 2 ||
      !found->at(0).is_number() || !found->at(1).is_number()) {
    return all;
  }
  return {std::max(all.lo, found->at(0).get<double>()),
          std::min(all.hi, found->at(1).get<double>())};
}

// `suffix` is ".cycles" where the curve is in cycles, else "".
void mark_levels(const Machine& machine, const Range& all, const std::string& suffix,
                 Json& shapes) {
  for (const Level& level : levels) {
    if (const auto found = machine.parameters.find(level.latency + suffix);
        found != machine.parameters.end() && found->second.value) {
      const Parameter& parameter = found->second;
      shapes.push_back(horizontal_mark(
          *parameter.value, footprints_of(parameter, all),
          fmt::format("{} {}", level.name, si_text(*parameter.value, parameter.unit))));
    }
    if (const auto found = machine.parameters.find(level.capacity);
        found != machine.parameters.end() && found->second.interval) {
      shapes.push_back(vertical_band(found->second.interval->lo, found->second.interval->hi));
    }
  }
}

// Cache sizes as the system states them: facts named cache.<level>.size, in bytes.
void mark_sizes(const Facts& facts, const Range& all, Json& shapes, Json& annotations) {
  for (const auto& [name, fact] : facts) {
    const auto size = fact_number(facts, name);
    if (!name.starts_with("cache.") || !name.ends_with(".size") || !size) continue;
    if (*size < all.lo || *size > all.hi) continue;
    std::string level = name.substr(6, name.size() - 11);
    level.front() = 'L';
    shapes.push_back(vertical_mark(*size));
    annotations.push_back(top_label(*size, level + " " + format_bytes(*size)));
  }
}

const Facts* facts_of(const ReportInput& input) {
  for (const Run& run : input.runs) {
    if (!run.facts.empty()) return &run.facts;
  }
  return input.machine ? &input.machine->facts : nullptr;
}

Plot lines_of(const std::vector<Series>& all) {
  Plot plot;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = all[i].name.empty() ? "measured" : all[i].name;
    plot.data.push_back(measured_trace(all[i].points, name, {i, i}));
  }
  return plot;
}

}  // namespace

Section staircase_section(const ReportInput& input) {
  Section section{"staircase", "Latency against footprint", "", {}, ""};
  std::string suffix;  // some published curves are in cycles of a clock that nobody recorded
  auto all = series_of(input, "latency.chase", "footprint");
  if (all.empty()) all = series_of(input, "latency.chase" + (suffix = ".cycles"), "footprint");
  const auto range = x_range(all);
  if (!range) {
    section.intro = paragraph("missing", why_missing(input, "latency.chase"));
    return section;
  }
  section.intro = paragraph(
      "how",
      "Each point is the time of one load that depends on the one before it, over a random cycle "
      "through all lines of the footprint: a flat stretch is a cache level that holds the cycle. "
      "Grey lines are the detected levels, blue bands the intervals of their capacities, dotted "
      "verticals the sizes that the system states, grey crosses values that were not used.");
  Plot plot = lines_of(all);
  Json shapes = Json::array();
  Json annotations = Json::array();
  if (const Facts* facts = facts_of(input)) mark_sizes(*facts, *range, shapes, annotations);
  if (input.machine) mark_levels(*input.machine, *range, suffix, shapes);
  plot.layout = {{"xaxis", axis("footprint", Scale::log)},
                 {"yaxis", axis("time per load", Scale::log)},
                 {"shapes", shapes},
                 {"annotations", annotations}};
  plot.x_unit = Unit::byte;
  plot.y_unit = suffix.empty() ? Unit::second : Unit::cycle;
  section.plot = std::move(plot);
  return section;
}

Section loaded_section(const ReportInput& input) {
  Section section{"loaded", "Latency under load", "", {}, ""};
  const auto reached = [](const Measurement& m) -> std::optional<double> {
    const auto found = m.conditions.find("load_bytes_per_s");
    if (found == m.conditions.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
  };
  const auto all = series_of(input, "latency.loaded", "load", reached);
  if (all.empty()) {
    section.intro = paragraph("missing", why_missing(input, "latency.loaded"));
    return section;
  }
  section.intro = paragraph(
      "how",
      "One thread chases pointers while the others stream: the curve starts at the idle latency "
      "and rises as queues fill. The x axis is the bandwidth that the streaming threads really "
      "reached, not what was asked of them.");
  Plot plot = lines_of(all);
  plot.layout = {{"xaxis", axis("bandwidth of the load", Scale::linear)},
                 {"yaxis", axis("time per load", Scale::linear)}};
  plot.layout["xaxis"]["rangemode"] = "tozero";
  plot.layout["yaxis"]["rangemode"] = "tozero";
  plot.x_unit = Unit::byte_per_second;
  plot.y_unit = Unit::second;
  section.plot = std::move(plot);
  return section;
}

}  // namespace warpmeter
