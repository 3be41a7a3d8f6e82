// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>

#include "calibrator/parameters.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

// One parameter straight from one measurement: the one of `points` with the largest value of
// `prefer` (the first if empty).
void fill(Draft& draft, const std::string& name, Unit unit, const Selection& selection,
          const Points& points, const std::string& what, const std::string& prefer = "") {
  Parameter& parameter = draft.machine.parameters[name];
  const Points best =
      prefer.empty() || points.empty() ? points : with(points, prefer, *largest(points, prefer));
  if (best.empty()) {
    parameter = unknown(unit, Status::not_measured, missing_reason({{}, selection.refused}, what));
    return;
  }
  parameter = from_measurement(draft, *best.front(), "");
}

// Burst and sustained stay apart: a clock under power limits makes them different numbers.
void calibrate_fma(const Run& run, DeviceKind kind, Draft& draft) {
  const Selection selection = select(run, "throughput.fma");
  const double all_threads = largest(selection.usable, "threads").value_or(1);
  for (const std::string type : {"f64", "f32", "bf16", "int8"}) {
    for (const std::string scope : {"core", "device"}) {
      if (kind == DeviceKind::cuda && scope == "core") continue;
      for (const std::string phase : {"burst", "sustained"}) {
        Points points = with(with(selection.usable, "type", type), "phase", phase);
        if (kind == DeviceKind::cpu) {
          points = with(points, "threads", scope == "core" ? 1 : all_threads);
        } else {
          points = with(points, "scope", "device");
        }
        fill(draft, fmt::format("throughput.fma.{}.{}.{}", type, scope, phase), Unit::op_per_second,
             selection, points, fmt::format("throughput.fma with phase={}, type={}", phase, type));
      }
    }
  }
}

void calibrate_mma(const Run& run, Draft& draft) {
  const Selection selection = select(run, "throughput.mma");
  const std::string name = "throughput.mma.bf16.device";
  const Points points = with(with(selection.usable, "type", "bf16"), "scope", "device");
  Points best = points;
  std::sort(best.begin(), best.end(),
            [](const Measurement* a, const Measurement* b) { return *a->value > *b->value; });
  fill(draft, name, Unit::op_per_second, selection, best,
       "throughput.mma with scope=device, type=bf16");
  if (best.size() > 1) {
    draft.machine.parameters[name].reason =
        fmt::format("the fastest of {} shapes: {}", best.size(),
                    word(best.front()->parameters, "shape").value_or("unnamed"));
  }
}

void calibrate_core_to_core(const Run& run, Draft& draft) {
  const Selection selection = select(run, "latency.core_to_core");
  Parameter& parameter = draft.machine.parameters["latency.core_to_core"];
  if (selection.usable.empty()) {
    parameter = unknown(Unit::second, Status::not_measured,
                        missing_reason(selection, "latency.core_to_core"));
    return;
  }
  parameter = from_replicates(
      draft, Unit::second,
      replicate(selection.usable, [](const std::vector<double>& y) { return median(y); }),
      "median over all pairs of cores, interval from campaigns", selection.usable,
      left_out(selection));
  const std::vector<double> pairs = values(selection.usable);
  if (pairs.size() < 2) return;
  Json quantiles = Json::object();
  for (const double probability : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    quantiles[fmt::format("{:g}", probability)] = *quantile(pairs, probability);
  }
  parameter.distribution = Json::object();
  parameter.distribution["quantiles"] = quantiles;
}

void calibrate_clock(const Run& run, DeviceKind kind, Draft& draft) {
  const Selection selection = select(run, "clock.core");
  if (kind == DeviceKind::cuda) {
    fill(draft, "clock.sm", Unit::hertz, selection, selection.usable, "clock.core");
    return;
  }
  for (const std::string load : {"scalar", "vector"}) {
    const Points points = with(selection.usable, "load", load);
    const std::string name = "clock.core." + load;
    fill(draft, name, Unit::hertz, selection, with(points, "threads", 1),
         "clock.core with threads=1, load=" + load);
    const auto most = largest(points, "threads");
    if (!most || *most <= 1) continue;
    draft.machine.parameters[name].reason += fmt::format(
        "{:.4g} Hz with all {:g} threads", *with(points, "threads", *most).front()->value, *most);
  }
}

}  // namespace

void calibrate_scalars(const Run& run, DeviceKind kind, Draft& draft) {
  calibrate_fma(run, kind, draft);
  calibrate_clock(run, kind, draft);
  const Selection fma = select(run, "latency.fma");
  for (const std::string type : {"f64", "f32", "bf16", "int8"}) {
    const Points points = with(fma.usable, "type", type);
    if (points.empty() && type != "f32" && type != "f64") continue;  // few cores have the others
    fill(draft, "latency.fma." + type, Unit::second, fma, points, "latency.fma with type=" + type);
  }
  if (kind == DeviceKind::cuda) {
    calibrate_mma(run, draft);
    for (const std::string name : {"launch.stream", "launch.graph", "launch.stream.first"}) {
      const Selection selection = select(run, name);
      fill(draft, name, Unit::second, selection, selection.usable, name);
    }
    return;
  }
  calibrate_core_to_core(run, draft);
  const Selection fork_join = select(run, "launch.fork_join");
  fill(draft, "launch.fork_join", Unit::second, fork_join, fork_join.usable, "launch.fork_join",
       "threads");
  const Selection loaded = select(run, "latency.loaded");
  fill(draft, "latency.dram.loaded", Unit::second, loaded, loaded.usable, "latency.loaded", "load");
}

}  // namespace warpmeter
