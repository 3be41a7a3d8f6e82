// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/latency_parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrator/staircase_names.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

constexpr const char* chase = "latency.chase";

// The points of one curve, and what must be said of it.
struct Chosen {
  Points points;
  std::string note;
  std::string data;  // name of the data set, for the covariance
};

Points only_series(const Points& points) {
  const auto series = series_along(points, "footprint");
  if (series.empty()) return {};
  return std::max_element(
             series.begin(), series.end(),
             [](const Series& a, const Series& b) { return a.points.size() < b.points.size(); })
      ->points;
}

Chosen host_curve(const Points& usable) {
  Points huge = only_series(with(usable, "page", "huge"));
  if (!huge.empty()) return {huge, "", "latency.chase/page=huge"};
  return {only_series(with_or_without(usable, "page", "4k")),
          "measured with 4 KiB pages, because there is no usable measurement with huge pages: "
          "includes address translation",
          "latency.chase/page=4k"};
}

void append(std::string& reason, const std::string& more) {
  if (more.empty()) return;
  reason += (reason.empty() ? "" : "; ") + more;
}

void store(const LevelEstimates& estimates, const Chosen& chosen, const std::string& refused,
           Draft& draft) {
  for (const auto& [level, parameter] : estimates.latency) {
    const std::string name = latency_name(level);
    Parameter& stored = draft.machine.parameters[name];
    if (stored.value) continue;  // a better curve came first
    stored = parameter;
    append(stored.reason, chosen.note);
    append(stored.reason, refused);
    if (const auto found = estimates.replicates.find(level);
        found != estimates.replicates.end() && stored.value) {
      draft.shared[name] = {chosen.data, found->second};
    }
  }
  for (const auto& [level, parameter] : estimates.capacity) {
    if (level == "dram") continue;
    Parameter& stored = draft.machine.parameters["capacity." + level];
    if (stored.value) continue;
    stored = parameter;
    append(stored.reason, chosen.note);
  }
}

void leave_unknown(DeviceKind kind, const std::string& reason, Draft& draft) {
  for (const std::string& level : memory_levels(kind)) {
    draft.machine.parameters[latency_name(level)] =
        unknown(Unit::second, Status::not_measured, reason);
    if (level == "dram") continue;
    draft.machine.parameters["capacity." + level] =
        unknown(Unit::byte, Status::not_measured, reason);
  }
}

// No core's last TLB level holds more than 4096 entries of 4 KiB (16 MiB: AMD Zen 4 has 3072, Intel
// Golden Cove 2048); from twice that on nearly every load misses it.
constexpr double beyond_tlb = 32.0 * 1024 * 1024;

// Pairs of points with the same footprint.
void pair_up(const Points& small, const Points& huge, Points& small_paired, Points& huge_paired) {
  for (const Measurement* point : small) {
    const double footprint = *number(point->parameters, "footprint");
    if (footprint < beyond_tlb) continue;
    const Points same = with(huge, "footprint", footprint);
    if (same.empty()) continue;
    small_paired.push_back(point);
    huge_paired.push_back(same.front());
  }
}

void calibrate_tlb(const Selection& selection, const std::string& data, Draft& draft) {
  Parameter& parameter = draft.machine.parameters["latency.tlb_miss"];
  Points small, huge;
  pair_up(only_series(with(selection.usable, "page", "4k")),
          only_series(with(selection.usable, "page", "huge")), small, huge);
  if (small.empty()) {
    parameter = unknown(
        Unit::second, Status::not_measured,
        missing_reason({{}, selection.refused},
                       "latency.chase with 4 KiB and with huge pages at one footprint of at "
                       "least 32 MiB, beyond the reach of the TLB"));
    return;
  }
  Points both = small;
  both.insert(both.end(), huge.begin(), huge.end());
  const auto replicates = replicate(both, [&](const std::vector<double>& y) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < small.size(); ++i)
      differences.push_back(y[i] - y[i + small.size()]);
    return median(differences);
  });
  parameter = from_replicates(
      draft, Unit::second, replicates,
      "latency with 4 KiB pages minus latency with huge pages at the same footprints, median",
      both);
  if (draft.status == Status::measured) parameter.status = Status::derived;
  parameter.valid_range["footprint"] = {*number(small.front()->parameters, "footprint"),
                                        *number(small.back()->parameters, "footprint")};
  if (parameter.interval && parameter.interval->lo <= 0 && parameter.interval->hi >= 0) {
    parameter.reason = "not distinguishable from zero: the interval contains it";
  }
  draft.shared["latency.tlb_miss"] = {data, replicates};
}

}  // namespace

void calibrate_latency(const Run& run, DeviceKind kind, Draft& draft) {
  const Selection selection = select(run, chase);
  const std::string refused = left_out(selection);
  if (kind == DeviceKind::cpu) {
    const Chosen chosen = host_curve(selection.usable);
    if (chosen.points.empty()) {
      leave_unknown(kind, missing_reason(selection, chase), draft);
    } else {
      store(estimate_levels(draft, chosen.points, kind, "l1"), chosen, refused, draft);
    }
    calibrate_tlb(selection, chosen.data, draft);
    return;
  }
  // Loads cached in L1 show every level; loads that bypass it show L2 and DRAM, if the first lack.
  leave_unknown(kind, missing_reason(selection, chase), draft);
  const Points all = only_series(with_or_without(selection.usable, "path", "ca"));
  const Points bypassing = only_series(with(selection.usable, "path", "cg"));
  if (!all.empty()) {
    store(estimate_levels(draft, all, kind, "l1"), {all, "", "latency.chase/path=ca"}, refused,
          draft);
  }
  if (!bypassing.empty()) {
    store(estimate_levels(draft, bypassing, kind, "l2"),
          {bypassing, "from loads that bypass L1", "latency.chase/path=cg"}, refused, draft);
  }
  const Points shared = with(selection.usable, "path", "shared");
  if (!shared.empty()) {
    draft.machine.parameters["latency.smem.load"] =
        from_replicates(draft, Unit::second,
                        replicate(shared, [](const std::vector<double>& y) { return median(y); }),
                        "median over the footprints in shared memory", shared);
  }
}

}  // namespace warpmeter
