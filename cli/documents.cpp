// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cli/documents.h"

#include <fmt/format.h>

#include "calibrator/calibrate.h"
#include "calibrator/overlap.h"
#include "core/error.h"
#include "core/provenance.h"
#include "core/table.h"

namespace warpmeter {
namespace {

std::string parameter_interval(const Parameter& parameter) {
  if (!parameter.interval) return "";
  return fmt::format("{} to {}", format_si(parameter.interval->lo, parameter.unit),
                     format_si(parameter.interval->hi, parameter.unit));
}

}  // namespace

std::vector<Run> load_runs(const std::vector<std::filesystem::path>& files) {
  std::vector<Run> runs;
  for (const auto& file : files) runs.push_back(load_run(file));
  return runs;
}

Run kernel_run(const std::vector<Run>& runs) {
  Run all;
  if (!runs.empty()) all = runs.front();
  all.measurements.clear();
  for (const Run& run : runs) {
    if (run.device != all.device || run.source != all.source) {
      throw InputError(
          fmt::format("runs of different devices or sources do not mix: {} ({}) and {} ({})",
                      all.device, to_string(all.source), run.device, to_string(run.source)));
    }
    for (const Measurement* kernel : with_quantity(run, "kernel.time")) {
      if (find(all, kernel->id) != nullptr)
        throw InputError(fmt::format("two runs hold {}; give one run of the kernels", kernel->id));
      all.measurements.push_back(*kernel);
    }
  }
  return all;
}

Machine calibrate_runs(const std::vector<Run>& runs,
                       const std::vector<std::filesystem::path>& files,
                       const std::vector<std::string>& argv) {
  Machine machine = calibrate(runs);
  machine.tool = tool_provenance(argv);
  for (std::size_t i = 0; i < files.size() && i < machine.inputs.size(); ++i)
    machine.inputs[i]["file"] = files[i].filename().string();
  if (machine.source != Source::published) fit_overlap(machine, kernel_run(runs));
  return machine;
}

std::string missing_parameters(const Machine& machine) {
  std::string text;
  for (const auto& [name, parameter] : machine.parameters) {
    if (!parameter.value)
      text += fmt::format("  {}: {}: {}\n", name, to_string(parameter.status), parameter.reason);
  }
  return text;
}

std::string machine_table(const Machine& machine) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, parameter] : machine.parameters) {
    if (!parameter.value) continue;
    rows.push_back({name, format_si(*parameter.value, parameter.unit),
                    parameter_interval(parameter), std::string(to_string(parameter.status)),
                    std::to_string(parameter.evidence.size())});
  }
  return format_table({"parameter", "value", "90 % interval", "status", "evidence"}, rows);
}

}  // namespace warpmeter
