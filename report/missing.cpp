// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <map>
#include <set>

#include "core/error.h"
#include "report/html.h"
#include "report/number_text.h"
#include "report/section.h"
#include "report/verdicts.h"

namespace warpmeter {

namespace {

// The quantity whose measurement would give a parameter (docs/quantities.md, derived); "" where it
// takes more than one.
std::string quantity_of(const std::string& parameter) {
  const std::string last = parameter.substr(parameter.rfind('.') + 1);
  if (parameter.starts_with("capacity.") || last == "hit" || parameter == "latency.dram" ||
      parameter == "latency.tlb_miss") {
    return "latency.chase";
  }
  if (parameter == "latency.dram.loaded") return "latency.loaded";
  if (parameter == "latency.dram.in_flight" || parameter.starts_with("concurrency.") ||
      parameter.find(".saturated.") != std::string::npos) {
    return "bandwidth.in_flight";
  }
  for (const std::string operation : {"read", "write", "copy", "triad"}) {
    if (parameter.find("." + operation + ".") != std::string::npos) return "bandwidth." + operation;
  }
  if (parameter.starts_with("transfer.")) return "transfer.time";
  if (parameter.starts_with("throughput.fma.")) return "throughput.fma";
  if (parameter.starts_with("throughput.mma.")) return "throughput.mma";
  if (parameter.starts_with("latency.fma.")) return "latency.fma";
  if (parameter.starts_with("clock.")) return "clock.core";
  if (parameter.starts_with("model.")) return "kernel.time";
  if (parameter.starts_with("launch.") || parameter == "latency.core_to_core") return parameter;
  return "";
}

std::string remedy(const Machine& machine, const std::string& name) {
  if (machine.source == Source::published) {
    return "Measure on the device itself: " + code("warpmeter run") + ".";
  }
  const std::string quantity = quantity_of(name);
  if (quantity == "kernel.time") return code("warpmeter kernels") + ", then calibrate again.";
  if (quantity.empty()) return "–";
  return code("warpmeter bench " + quantity) + ", then calibrate again.";
}

std::string parameter_table(const ReportInput& input) {
  if (!input.machine) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, parameter] : input.machine->parameters) {
    if (parameter.value) continue;
    rows.push_back({code(name), status_badge(parameter.status), escape_html(parameter.reason),
                    remedy(*input.machine, name)});
  }
  if (rows.empty()) return "";
  return "<h3>Parameters without a value</h3>\n" +
         html_table({"parameter", "status", "why", "remedy"}, rows);
}

// Measurements that may not enter a calibration, one row for each quantity, verdict and reason.
std::string measurement_table(const ReportInput& input) {
  std::map<std::tuple<std::string, Verdict, std::string>, std::vector<std::string>> groups;
  for (const Run& run : input.runs) {
    for (const Measurement& m : run.measurements) {
      if (m.value && usable(m.verdict)) continue;
      groups[{m.quantity, m.verdict, m.reason}].push_back(parameters_text(m.parameters));
    }
  }
  if (groups.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, points] : groups) {
    std::string where;
    for (std::size_t i = 0; i < points.size() && i < 4; ++i) {
      where += (i == 0 ? "" : "; ") + escape_html(points[i]);
    }
    if (points.size() > 4) where += fmt::format("; and {} more", points.size() - 4);
    rows.push_back({code(std::get<0>(key)), verdict_badge(std::get<1>(key)),
                    fmt::format("{}", points.size()), escape_html(std::get<2>(key)),
                    "<span class=\"note\">" + where + "</span>"});
  }
  return "<h3>Measurements that were not used</h3>\n" +
         html_table({"quantity", "verdict", "n>", "why", "at"}, rows);
}

std::string finding_table(const Json& findings) {
  if (findings.is_null()) return "";
  if (!findings.is_array())
    throw InputError("findings: a list of {name, status, detail, remedy} is needed");
  std::vector<std::vector<std::string>> rows;
  for (const Json& finding : findings) {
    const std::string status = require_string(finding, "status", "findings");
    const auto optional = [&](const char* key) {
      return finding.contains(key) && finding[key].is_string() ? finding[key].get<std::string>()
                                                               : "";
    };
    rows.push_back({escape_html(require_string(finding, "name", "findings")),
                    badge(status == "ok" ? "good" : "warn", status),
                    escape_html(optional("detail")), escape_html(optional("remedy"))});
  }
  if (rows.empty()) return "";
  return "<h3>What doctor found</h3>\n" + html_table({"check", "status", "detail", "remedy"}, rows);
}

}  // namespace

Section missing_section(const ReportInput& input) {
  Section section{"missing", "Not measured, and why", "", {}, ""};
  section.rest = parameter_table(input) + measurement_table(input) + finding_table(input.findings);
  section.intro =
      section.rest.empty()
          ? paragraph("missing", input.machine || !input.runs.empty()
                                     ? "Nothing is missing: all that was asked for has a value."
                                     : "No run and no machine document was given.")
          : paragraph("how",
                      "A number that is not known is never a zero here: each has its reason and, "
                      "where there is one, what to do about it. Values with a bad verdict stay in "
                      "the plots as grey crosses but enter no calibration.");
  return section;
}

}  // namespace warpmeter
