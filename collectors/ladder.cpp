// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/ladder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace warpmeter {
namespace {

struct Meaning {
  Access kind;
  const char* name;
  std::vector<std::string> conclusions;
};

const std::array<Meaning, 5>& meanings() {
  static const std::array<Meaning, 5> all{{
      {access_timeline,
       "timeline",
       {"which kernel ran when, on which stream and for how long",
        "time in copies, waits and gaps"}},
      {access_range,
       "range",
       {"exact counts of single kernels: bytes, sectors, instructions",
        "stall reasons and pipe use of single kernels", "hit rates of L1 and L2"}},
      {access_pm,
       "pm",
       {"use of SMs, tensor pipe, L2, memory and links while the program runs",
        "what overlaps within a kernel", "link traffic beside kernels"}},
      {access_pc, "pc", {"stall reasons of single instructions", "source lines that cost time"}},
      {access_gpm, "gpm", {"use of SMs, tensor pipe, memory and links every 200 ms"}},
  }};
  return all;
}

const Meaning& meaning(Access kind) {
  return *std::find_if(meanings().begin(), meanings().end(),
                       [&](const Meaning& m) { return m.kind == kind; });
}

LadderStep step_down(const std::vector<Finding>& findings, const Meaning& m) {
  LadderStep step;
  step.collector = m.kind;
  step.lost = m.conclusions;
  for (const Finding& finding : findings) {
    if ((finding.blocks & m.kind) == 0) continue;
    step.reasons.push_back(fmt::format("{}: {}", finding.subject, finding.detail));
    if (!finding.remedy.empty()) step.remedies.push_back(finding.remedy);
  }
  return step;
}

const char* rung_of(unsigned granted) {
  const bool range = (granted & access_range) != 0, pm = (granted & access_pm) != 0;
  if (range && pm) return "range and PM";
  if (range) return "range";
  if (pm) return "PM";
  if ((granted & access_gpm) != 0) return "GPM";
  return (granted & access_timeline) != 0 ? "activity" : "none";
}

}  // namespace

std::string_view to_string(Access kind) { return meaning(kind).name; }

Ladder choose_ladder(const std::vector<Finding>& findings, unsigned wanted) {
  unsigned blocked = 0;
  for (const Finding& finding : findings) blocked |= finding.blocks;
  constexpr unsigned in_running_program = access_range | access_pm;
  if ((wanted & in_running_program) != 0 && (wanted & in_running_program & ~blocked) == 0)
    wanted |= access_gpm;
  Ladder ladder;
  ladder.granted = wanted & ~blocked;
  ladder.rung = rung_of(ladder.granted);
  for (const Meaning& m : meanings())
    if ((wanted & blocked & m.kind) != 0) ladder.steps.push_back(step_down(findings, m));
  return ladder;
}

std::vector<std::string> Ladder::lines() const {
  std::vector<std::string> all = {"counters: " + rung};
  for (const LadderStep& step : steps) {
    std::string line = fmt::format("no {}: {}; lost: {}", to_string(step.collector),
                                   fmt::join(step.reasons, "; "), fmt::join(step.lost, ", "));
    if (!step.remedies.empty()) line += fmt::format("; remedy: {}", fmt::join(step.remedies, "; "));
    all.push_back(line);
  }
  return all;
}

Json to_json(const Ladder& ladder) {
  Json granted = Json::array(), steps = Json::array();
  for (const Meaning& m : meanings())
    if (ladder.grants(m.kind)) granted.push_back(m.name);
  for (const LadderStep& step : ladder.steps)
    steps.push_back({{"collector", to_string(step.collector)},
                     {"reasons", step.reasons},
                     {"remedies", step.remedies},
                     {"lost", step.lost}});
  return {{"rung", ladder.rung}, {"granted", granted}, {"steps", steps}};
}

}  // namespace warpmeter
