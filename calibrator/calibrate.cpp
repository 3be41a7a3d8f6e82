// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "calibrator/draft.h"
#include "calibrator/latency_parameters.h"
#include "calibrator/parameters.h"
#include "calibrator/points.h"
#include "calibrator/published.h"
#include "core/error.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

// What a device is, as far as runs that belong together must agree.
std::string identity(const Run& run) {
  std::string text = run.device;
  for (const char* fact : {"cpu.model", "name", "emulated.chip_hash"}) {
    const std::string value = fact_text(run.facts, fact);
    if (!value.empty()) text += " " + value;
  }
  return text;
}

void require_one_device(std::span<const Run> runs) {
  if (runs.empty()) throw InputError("calibrate: no runs given; name at least one *.run.json");
  const Run& first = runs.front();
  for (const Run& run : runs) {
    if (run.source != first.source) {
      throw InputError(
          fmt::format("calibrate: runs of source {} and {} do not mix; calibrate them one by one",
                      to_string(first.source), to_string(run.source)));
    }
    if (identity(run) != identity(first)) {
      throw InputError(fmt::format(
          "calibrate: runs of devices \"{}\" and \"{}\" do not mix; calibrate them one by one",
          identity(first), identity(run)));
    }
  }
}

// Campaigns of the same measurement in two runs are campaigns of one.
void pool(Measurement& into, const Measurement& from) {
  if (!calibrates(from)) return;
  if (!calibrates(into)) {
    into = from;
    return;
  }
  if (into.samples.empty() || from.samples.empty()) return;  // nothing to pool: the first counts
  into.samples.insert(into.samples.end(), from.samples.begin(), from.samples.end());
  into.value = campaign_median(into.samples);
  into.interval = bootstrap_interval(into.samples, into.level);
}

Run merge(std::span<const Run> runs) {
  Run merged;
  merged.source = runs.front().source;
  merged.device = runs.front().device;
  std::map<std::string, std::size_t> index;
  for (const Run& run : runs) {
    for (const auto& [name, fact] : run.facts) merged.facts[name] = fact;
    for (const Measurement& measurement : run.measurements) {
      const auto [known, is_new] = index.try_emplace(measurement.id, merged.measurements.size());
      if (is_new) {
        merged.measurements.push_back(measurement);
      } else {
        pool(merged.measurements[known->second], measurement);
      }
    }
  }
  return merged;
}

// Says of each parameter how much of its evidence is unstable: such a number is used, never
// silently.
void mark_unstable(const Run& run, Machine& machine) {
  std::set<std::string> unstable;
  for (const Measurement& measurement : run.measurements) {
    if (measurement.verdict == Verdict::unstable) unstable.insert(measurement.id);
  }
  for (auto& [name, parameter] : machine.parameters) {
    const auto count = std::count_if(parameter.evidence.begin(), parameter.evidence.end(),
                                     [&](const std::string& id) { return unstable.contains(id); });
    if (!parameter.value || count == 0) continue;
    parameter.reason +=
        fmt::format("{}{} of {} measurements behind it are unstable",
                    parameter.reason.empty() ? "" : "; ", count, parameter.evidence.size());
  }
}

Json inputs_of(std::span<const Run> runs) {
  Json inputs = Json::array();
  for (const Run& run : runs) {
    Json input = Json::object();
    input["file"] = Json();
    input["source"] = to_string(run.source);
    input["device"] = run.device;
    input["utc_time"] = run.tool.contains("utc_time") ? run.tool["utc_time"] : Json();
    input["measurements"] = run.measurements.size();
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace

DeviceKind device_kind(const Run& run) {
  const bool host = run.device == "cpu" || !fact_text(run.facts, "cpu.model").empty();
  return host ? DeviceKind::cpu : DeviceKind::cuda;
}

Machine calibrate(std::span<const Run> runs) {
  require_one_device(runs);
  const Run run = merge(runs);
  const DeviceKind kind = device_kind(run);
  Draft draft;
  if (run.source == Source::published) draft.status = Status::published;
  if (run.source == Source::emulated) draft.status = Status::emulated;
  draft.machine.source = run.source;
  draft.machine.device = run.device;
  draft.machine.facts = run.facts;
  draft.machine.inputs = inputs_of(runs);
  if (run.source == Source::published) {
    calibrate_published(run, kind, draft);
  } else {
    calibrate_latency(run, kind, draft);
    calibrate_bandwidth(run, kind, draft);
    if (kind == DeviceKind::cpu) calibrate_saturation(run, draft);
    if (kind == DeviceKind::cuda) {
      calibrate_geometry(run, draft);
      calibrate_transfer(run, draft);
    }
    calibrate_scalars(run, kind, draft);
    add_covariance(draft);
  }
  add_curves(run, draft);
  add_missing(kind, draft);
  mark_unstable(run, draft.machine);
  // model.overlap and model.overhead.* are fitted on the finished machine and kernel.time: here.
  return std::move(draft.machine);
}

}  // namespace warpmeter
