// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/run.h"
#include "model/machine.h"

namespace warpmeter {

std::vector<Run> load_runs(const std::vector<std::filesystem::path>& files);

// All kernel.time measurements of the runs as one run, for the fit of the time model and for
// validation. The first run's device, source and facts; throws InputError if another run's differ,
// or if two runs hold the same id.
Run kernel_run(const std::vector<Run>& runs);

// calibrate() of the runs, then the fit of overlap and overhead on their kernels; the inputs' names
// are recorded.
Machine calibrate_runs(const std::vector<Run>& runs,
                       const std::vector<std::filesystem::path>& files,
                       const std::vector<std::string>& argv);

// Parameters without a value, with the reason: one line each.
std::string missing_parameters(const Machine& machine);

// One row a parameter: value, interval, status, method.
std::string machine_table(const Machine& machine);

}  // namespace warpmeter
