// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "collectors/access.h"
#include "core/json.h"

namespace warpmeter {

// A collector that was wanted and is not granted.
struct LadderStep {
  Access collector = access_timeline;
  std::vector<std::string> reasons, remedies;
  std::vector<std::string> lost;  // what cannot be concluded without it
};

// How far up the counters can be reached: "range and PM", "range", "PM", "GPM", "activity", "none".
// GPM stands in, without being asked for, where ranges or PM samples were wanted and neither is
// granted.
struct Ladder {
  std::string rung;
  unsigned granted = 0;  // of Access
  std::vector<LadderStep> steps;

  bool grants(Access kind) const { return (granted & kind) != 0; }
  std::vector<std::string> lines() const;  // for people: the rung, then a line for each step
};

// `wanted` is a set of Access. What blocks a collector is in `findings` (judge_access).
Ladder choose_ladder(const std::vector<Finding>& findings, unsigned wanted);

// "timeline", "range", "pm", "pc", "gpm".
std::string_view to_string(Access kind);

// {rung, granted: [collector], steps: [{collector, reasons, remedies, lost}]}.
Json to_json(const Ladder& ladder);

}  // namespace warpmeter
