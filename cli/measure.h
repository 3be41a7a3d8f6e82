// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/devices.h"
#include "microbench/runner.h"

namespace warpmeter {

// The options that bench, kernels and run share.
struct MeasureOptions {
  std::string device;
  std::string effort = "standard";
  int campaigns = 4;
  double time_budget_s = 0;
  bool resume = false;
  bool fresh = false;
  bool json = false;
  std::vector<std::string> ids;
  std::filesystem::path out;
};

void add_measure_options(CLI::App& command, MeasureOptions& options);

// Runs the selected rows and writes the run document; prints a summary unless `quiet`. Google
// Benchmark's flags are those of `benchmark_flags`. Returns the run. Sets the exit status 2 if
// anything that was asked for has no usable value.
Run measure(const std::vector<Benchmark>& table, const Choice& choice,
            const MeasureOptions& options, const std::vector<std::string>& benchmark_flags,
            const std::string& job, Context& context);

Effort parse_effort(const std::string& text);

// "8m", "90s", "1h", or seconds. Throws InputError otherwise.
double parse_duration(const std::string& text);

// One row a measurement: id, value, interval, verdict.
std::string measurement_table(const Run& run);

}  // namespace warpmeter
