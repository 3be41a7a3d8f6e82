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
constexpr std::array levels = {Level{"L1", "latency.l1.hit", "capacity.l1"},
                               Level{"L2", "latency.l2.hit", "capacity.l2"},
                               Level{"L3", "latency.l3.hit", "capacity.l3"},
                               Level{"DRAM", "latency.dram", ""}};

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

void mark_levels(const Machine& machine, const Range& all, Json& shapes) {
  for (const Level& level : levels) {
    if (const auto found = machine.parameters.find(level.latency);
        found != machine.parameters.end() && found->second.value) {
      const Range range = footprints_of(found->second, all);
      shapes.push_back(horizontal_mark(
          *found->second.value, range.lo, range.hi,
          fmt::format("{} {}", level.name, format_si(*found->second.value, Unit::second)),
          "#999999"));
    }
    if (const auto found = machine.parameters.find(level.capacity);
        found != machine.parameters.end() && found->second.interval) {
      shapes.push_back(vertical_band(found->second.interval->lo, found->second.interval->hi));
    }
  }
}

// Cache sizes as the system states them: facts named cache.<level>.size or <level>.size, in bytes.
void mark_sizes(const Facts& facts, const Range& all, Json& shapes) {
  for (const auto& [name, fact] : facts) {
    if (!name.ends_with(".size") || name.starts_with("page.") || !fact.value.is_number()) continue;
    const double size = fact.value.get<double>();
    if (size < all.lo || size > all.hi) continue;
    const std::string stem = name.substr(0, name.size() - 5);
    shapes.push_back(vertical_mark(
        size, fmt::format("{} {}", stem.substr(stem.rfind('.') + 1), format_bytes(size))));
  }
}

const Facts* facts_of(const ReportInput& input) {
  if (!input.runs.empty() && !input.runs.front().facts.empty()) return &input.runs.front().facts;
  return input.machine ? &input.machine->facts : nullptr;
}

}  // namespace

Section staircase_section(const ReportInput& input) {
  Section section{"staircase", "Latency against footprint", "", {}, ""};
  const auto all = series_of(input, "latency.chase", "footprint");
  const auto range = x_range(all);
  if (!range) {
    section.intro = paragraph("missing", why_missing(input, "latency.chase"));
    return section;
  }
  section.intro = paragraph(
      "how",
      "Each point is the time of one load that depends on the one before it, over a random cycle "
      "through all lines of the footprint: a flat stretch is a cache level that holds the whole "
      "cycle. Grey lines are the detected levels, blue bands the intervals of their capacities "
      "(where the curve leaves the level), dotted verticals the sizes that the system states; a "
      "grey cross is a value whose verdict bars it from calibration.");
  Plot plot;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = all[i].name.empty() ? "measured" : all[i].name;
    plot.data.push_back(measured_trace(all[i].points, name, {i, i}));
  }
  Json shapes = Json::array();
  if (const Facts* facts = facts_of(input)) mark_sizes(*facts, *range, shapes);
  if (input.machine) mark_levels(*input.machine, *range, shapes);
  plot.layout = {{"xaxis", byte_axis("footprint", range->lo, range->hi)},
                 {"yaxis", si_axis("time per load", Unit::second, Scale::log)},
                 {"shapes", shapes}};
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
  Plot plot;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = all[i].name.empty() ? "measured" : all[i].name;
    plot.data.push_back(measured_trace(all[i].points, name, {i, i}));
  }
  plot.layout = {{"xaxis", si_axis("bandwidth of the load", Unit::byte_per_second, Scale::linear)},
                 {"yaxis", si_axis("time per load", Unit::second, Scale::linear)}};
  plot.layout["xaxis"]["rangemode"] = "tozero";
  plot.layout["yaxis"]["rangemode"] = "tozero";
  section.plot = std::move(plot);
  return section;
}

}  // namespace warpmeter
