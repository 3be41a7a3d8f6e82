// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/html.h"
#include "report/number_text.h"

namespace warpmeter {

namespace {

SeriesPoint point_of(const Measurement& measurement, double x) {
  SeriesPoint point{x, *measurement.value, measurement.interval, measurement.verdict, ""};
  point.hover = escape_html(measurement.id) + "<br>" +
                escape_html(si_text(*measurement.value, measurement.unit));
  if (measurement.interval) {
    point.hover += " (" + escape_html(interval_text(measurement.interval, measurement.unit)) + ")";
  }
  if (measurement.verdict != Verdict::ok) {
    point.hover +=
        fmt::format("<br>{}: {}", to_string(measurement.verdict), escape_html(measurement.reason));
  }
  return point;
}

std::vector<Series> machine_series(const Machine& machine, std::string_view quantity,
                                   const std::string& x_name) {
  std::vector<Series> out;
  for (const Curve& curve : machine.curves) {
    if (curve.quantity != quantity || curve.x_name != x_name) continue;
    Series series{curve.quantity, curve.parameters, parameters_text(curve.parameters), {}};
    for (const CurvePoint& point : curve.points) {
      series.points.push_back(
          {point.x, point.y, point.interval, Verdict::ok,
           escape_html(si_text(point.y, curve.y_unit)) + " (machine document)"});
    }
    out.push_back(std::move(series));
  }
  return out;
}

// Leaves out of the names what all series share: a legend is for telling them apart.
void name_by_difference(std::vector<Series>& all) {
  for (Series& series : all) {
    Parameters differing;
    for (const auto& [name, value] : series.fixed) {
      const auto same = [&](const Series& other) {
        const auto found = other.fixed.find(name);
        return found != other.fixed.end() && found->second == value;
      };
      if (all.size() == 1 || !std::all_of(all.begin(), all.end(), same)) differing[name] = value;
    }
    series.name = parameters_text(differing) + series.name;
  }
}

}  // namespace

std::vector<Series> series_of(const ReportInput& input, std::string_view quantity,
                              const std::string& x_name, const Abscissa& x) {
  std::vector<Series> out;
  std::size_t runs_with_points = 0;
  for (const Run& run : input.runs) {
    std::map<std::string, Series> groups;
    for (const Measurement* measurement : with_quantity(run, quantity)) {
      const std::optional<double> at = x(*measurement);
      if (!measurement->value || !at) continue;
      Parameters fixed = measurement->parameters;
      fixed.erase(x_name);
      Series& series = groups[to_string(fixed)];
      series.quantity = measurement->quantity;
      series.fixed = std::move(fixed);
      series.points.push_back(point_of(*measurement, *at));
    }
    runs_with_points += groups.empty() ? 0 : 1;
    for (auto& [key, series] : groups) {
      std::stable_sort(series.points.begin(), series.points.end(),
                       [](const auto& a, const auto& b) { return a.x < b.x; });
      series.name =
          fmt::format(" · run {} ({})", &run - input.runs.data() + 1, to_string(run.source));
      out.push_back(std::move(series));
    }
  }
  if (runs_with_points == 1) {
    for (Series& series : out) series.name.clear();
  }
  name_by_difference(out);
  return out;
}

std::vector<Series> series_of(const ReportInput& input, std::string_view quantity,
                              const std::string& x_name) {
  auto out = series_of(input, quantity, x_name,
                       [&](const Measurement& m) { return number(m.parameters, x_name); });
  if (out.empty() && input.machine) out = machine_series(*input.machine, quantity, x_name);
  return out;
}

std::string why_missing(const ReportInput& input, std::string_view quantity) {
  std::set<std::string> reasons;
  bool only_published = !input.runs.empty();
  for (const Run& run : input.runs) {
    only_published = only_published && run.source == Source::published;
    for (const Measurement* measurement : with_quantity(run, quantity)) {
      if (!measurement->value) {
        reasons.insert(fmt::format("{}: {}", to_string(measurement->verdict), measurement->reason));
      }
    }
  }
  if (!reasons.empty()) {
    std::string out = "No value of " + code(quantity) + ". ";
    for (const std::string& reason : reasons) out += escape_html(reason) + ". ";
    return out;
  }
  if (input.runs.empty())
    return "No run document was given, so there is no " + code(quantity) + ".";
  if (only_published) return "The published sources carry no curve of " + code(quantity) + ".";
  return "No run document of this report holds " + code(quantity) +
         ": the benchmark was not selected or did not get its turn.";
}

}  // namespace warpmeter
