// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <array>
#include <set>

#include "report/html.h"
#include "report/number_text.h"
#include "report/section.h"
#include "report/verdicts.h"

namespace warpmeter {

namespace {

struct Group {
  const char* title;
  std::vector<std::string> prefixes;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {{"Latency and capacity", {"latency.", "capacity."}},
                                         {"Bandwidth", {"bandwidth.", "concurrency."}},
                                         {"Compute", {"throughput."}},
                                         {"Launch", {"launch."}},
                                         {"Transfer", {"transfer."}},
                                         {"Clock", {"clock."}},
                                         {"Model", {"model."}},
                                         {"Other", {""}}};
  return all;
}

// The index of the first group one of whose prefixes fits; the last fits all.
std::size_t group_of(const std::string& name) {
  for (std::size_t i = 0; i < groups().size(); ++i) {
    for (const std::string& prefix : groups()[i].prefixes) {
      if (name.starts_with(prefix)) return i;
    }
  }
  return groups().size() - 1;
}

// {"footprint": [lo, hi]} as "footprint 16 KiB – 1 MiB"; other entries as JSON.
std::string range_text(const Json& valid_range) {
  std::string out;
  for (const auto& [name, range] : valid_range.items()) {
    if (!out.empty()) out += ", ";
    const bool bytes = name == "footprint" || name == "size" || name == "in_flight";
    if (bytes && range.is_array() && range.size() == 2 && range[0].is_number() &&
        range[1].is_number()) {
      out += name + " " +
             interval_text(Interval{range[0].get<double>(), range[1].get<double>()}, Unit::byte);
    } else {
      out += name + " " + range.dump();
    }
  }
  return out;
}

std::string modes_text(const Parameter& parameter) {
  if (!parameter.distribution.is_object() || !parameter.distribution.contains("modes")) return "";
  std::string out;
  for (const Json& mode : parameter.distribution["modes"]) {
    if (!mode.is_number()) continue;
    out += (out.empty() ? "modes " : ", ") + value_text(mode.get<double>(), parameter.unit);
  }
  return out;
}

// The publications behind a parameter, as the evidence of its measurements names them.
std::string sources_text(const ReportInput& input, const Parameter& parameter) {
  std::set<std::string> titles;
  for (const std::string& id : parameter.evidence) {
    for (const Run& run : input.runs) {
      const Measurement* measurement = find(run, id);
      if (!measurement || !measurement->evidence.is_array()) continue;
      for (const Json& source : measurement->evidence) {
        if (source.is_object() && source.contains("title") && source["title"].is_string()) {
          titles.insert(source["title"].get<std::string>());
        }
      }
    }
  }
  std::string out;
  for (const std::string& title : titles) out += (out.empty() ? "source: " : "; ") + title;
  return out;
}

std::string notes(const ReportInput& input, const Parameter& parameter) {
  std::string out = parameter.method;
  const std::string range = range_text(parameter.valid_range);
  for (const std::string& text :
       {range.empty() ? range : "holds for " + range, modes_text(parameter), parameter.reason,
        sources_text(input, parameter)}) {
    if (!text.empty()) out += (out.empty() ? "" : " · ") + text;
  }
  return "<span class=\"note\">" + escape_html(out) + "</span>";
}

std::vector<std::string> cells(const ReportInput& input, const std::string& name,
                               const Parameter& parameter) {
  return {code(name),
          value_text(parameter.value, parameter.unit),
          interval_text(parameter.interval, parameter.unit),
          relative_interval_text(parameter.value, parameter.interval),
          status_badge(parameter.status),
          fmt::format("{}", parameter.evidence.size()),
          verdict_flags(input, parameter.evidence),
          notes(input, parameter)};
}

}  // namespace

Section machine_section(const ReportInput& input) {
  Section section{"machine", "Machine", "", {}, ""};
  if (!input.machine) {
    section.intro = paragraph(
        "missing", "No machine document was given: nothing was calibrated from the runs.");
    return section;
  }
  if (input.machine->parameters.empty()) {
    section.intro = paragraph("missing", "The machine document holds no parameters.");
    return section;
  }
  section.intro = paragraph(
      "how",
      "Each parameter with its 90 % interval, absolute and relative to the value, and the number "
      "of "
      "measurements behind it. Flags count those among them whose verdict is not ok; a dash is a "
      "value that is not known, and the last column says why.");
  std::vector<std::vector<std::vector<std::string>>> rows(groups().size());
  for (const auto& [name, parameter] : input.machine->parameters) {
    rows[group_of(name)].push_back(cells(input, name, parameter));
  }
  std::vector<std::vector<std::string>> table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].empty()) continue;
    table.push_back({groups()[i].title});
    table.insert(table.end(), rows[i].begin(), rows[i].end());
  }
  section.rest = html_table({"parameter", "value>", "90 % interval>", "relative>", "status", "n>",
                             "flags", "method and notes"},
                            table);
  return section;
}

}  // namespace warpmeter
