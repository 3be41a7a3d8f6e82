// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "calibrator/latency_parameters.h"
#include "calibrator/parameters.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

// Quantities whose records are points of curves or single shapes, not parameters.
constexpr std::array curve_quantities{
    "latency.chase",   "latency.chase.cycles", "latency.loaded",           "bandwidth.read",
    "bandwidth.write", "bandwidth.copy",       "bandwidth.triad",          "bandwidth.in_flight",
    "transfer.time",   "collective.time",      "collective.bus_bandwidth", "throughput.gemm",
    "kernel.time",
};

bool is_curve(const Measurement& measurement) {
  return std::find(curve_quantities.begin(), curve_quantities.end(), measurement.quantity) !=
         curve_quantities.end();
}

// Values of one parameter from different sources.
using Values = std::vector<Parameter>;

// A copy of the run's latency curves in cycles under the name of those in seconds.
Run chases_in_cycles(const Run& run) {
  Run renamed;
  for (const Measurement& measurement : run.measurements) {
    if (measurement.quantity != "latency.chase.cycles") continue;
    renamed.measurements.push_back(measurement);
    renamed.measurements.back().quantity = "latency.chase";
  }
  return renamed;
}

void collect(const Draft& draft, std::map<std::string, Values>& found,
             const std::string& latency_suffix) {
  for (const auto& [name, parameter] : draft.machine.parameters) {
    if (!parameter.value && parameter.status != Status::not_identifiable) continue;
    found[name.starts_with("latency.") ? name + latency_suffix : name].push_back(parameter);
  }
}

// The parameters that the curves of one source give.
void add_from_curves(const Run& run, DeviceKind kind, const Draft& whole,
                     std::map<std::string, Values>& found) {
  std::map<std::string, Run> by_source;
  for (const Measurement& measurement : run.measurements) {
    if (!is_curve(measurement)) continue;
    by_source[word(measurement.parameters, "source").value_or("")].measurements.push_back(
        measurement);
  }
  for (const auto& [source, own] : by_source) {
    Draft draft;
    draft.status = whole.status;
    draft.machine.facts = whole.machine.facts;
    Draft in_cycles = draft;
    calibrate_latency(own, kind, draft);
    calibrate_bandwidth(own, kind, draft);
    calibrate_saturation(own, draft);
    calibrate_transfer(own, draft);
    collect(draft, found, "");
    calibrate_latency(chases_in_cycles(own), kind, in_cycles);
    collect(in_cycles, found, ".cycles");
  }
}

void add_scalars(const Run& run, const Draft& draft, std::map<std::string, Values>& found) {
  std::set<std::string> names;
  for (const Measurement& measurement : run.measurements) {
    if (!is_curve(measurement)) names.insert(measurement.quantity);
  }
  for (const std::string& name : names) {
    const Selection selection = select(run, name);
    for (const Measurement* point : selection.usable) {
      found[name].push_back(from_measurement(draft, *point, point->reason));
    }
    if (selection.usable.empty()) {
      found[name].push_back(
          unknown(Unit::one, Status::not_measured, missing_reason(selection, name)));
    }
  }
}

Unit most_common_unit(const Values& values) {
  std::map<Unit, int> count;
  for (const Parameter& parameter : values) ++count[parameter.unit];
  return std::max_element(count.begin(), count.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Parameter combine(const Values& all) {
  Values known;
  std::copy_if(all.begin(), all.end(), std::back_inserter(known),
               [](const Parameter& parameter) { return parameter.value.has_value(); });
  if (known.empty()) return all.front();
  const Unit unit = most_common_unit(known);
  const auto other =
      std::stable_partition(known.begin(), known.end(),
                            [&](const Parameter& parameter) { return parameter.unit == unit; });
  std::string left_out;
  for (auto it = other; it != known.end(); ++it) {
    left_out +=
        fmt::format("{}{} (in {})", left_out.empty() ? "" : ", ",
                    it->evidence.empty() ? "one value" : it->evidence.front(), to_string(it->unit));
  }
  known.erase(other, known.end());
  Parameter result = known.front();
  if (known.size() > 1) {
    std::vector<double> numbers, ends;
    result.evidence.clear();
    for (const Parameter& parameter : known) {
      numbers.push_back(*parameter.value);
      ends.push_back(parameter.interval ? parameter.interval->lo : *parameter.value);
      ends.push_back(parameter.interval ? parameter.interval->hi : *parameter.value);
      result.evidence.insert(result.evidence.end(), parameter.evidence.begin(),
                             parameter.evidence.end());
      if (!parameter.distribution.is_null()) result.distribution = parameter.distribution;
    }
    const auto [lo, hi] = std::minmax_element(ends.begin(), ends.end());
    result.value = median(numbers);
    result.interval = Interval{*lo, *hi};
    result.valid_range = Json::object();
    result.method = fmt::format("median of {} published values", known.size());
    result.reason =
        "the sources' conditions differ; the interval is the range of their values, not a "
        "confidence interval";
  }
  if (!left_out.empty()) {
    result.reason += (result.reason.empty() ? "" : "; ") + ("left out: " + left_out);
  }
  return result;
}

}  // namespace

void calibrate_published(const Run& run, DeviceKind kind, Draft& draft) {
  std::map<std::string, Values> found;
  add_scalars(run, draft, found);
  add_from_curves(run, kind, draft, found);
  for (const auto& [name, values] : found) {
    draft.machine.parameters[name] = combine(values);
  }
}

}  // namespace warpmeter
