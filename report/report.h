// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/run.h"
#include "model/machine.h"

namespace warpmeter {

// Everything that a report shows. Each part may be missing: its section then says so and why.
struct ReportInput {
  std::vector<Run> runs;           // benchmarks and kernels; duplicates of an id are drawn apart
  std::optional<Machine> machine;  // calibrated from `runs`
  Json validation;                 // as `warpmeter validate --json` writes it, or null
  Json findings;                   // of doctor: [{name, status, detail, remedy}], or null
};

// One self-contained HTML page (about 5 MB, most of it plotly.js) that needs no network; tables
// also work without JavaScript. Throws InputError if `validation` or `findings` have another shape.
std::string render_report(const ReportInput& input);

}  // namespace warpmeter
