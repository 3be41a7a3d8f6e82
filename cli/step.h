// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/devices.h"
#include "kernels/llm/step_table.h"

namespace CLI {
class App;
}

namespace warpmeter {

// The options that name one step of a model, of `kernels` and `list --kernels`.
struct StepArguments {
  std::string model;  // empty: no step is asked for
  std::string phase = "decode";
  std::string type = "bf16";
  std::int64_t batch = 1, context = 2048, tp = 1, ep = 1;

  bool asked_for() const { return !model.empty(); }
};

void add_step_options(CLI::App& command, StepArguments& arguments);

// The kernels of the step, found in `table`. Throws InputError.
std::vector<StepLine> find_step(const StepArguments& arguments, std::span<const Benchmark> table,
                                const Device& device);

// Those whose kernel is one of `ids` or begins with it and a dot; all if `ids` is empty. Throws
// InputError for an id that is not in the step.
std::vector<StepLine> select_lines(std::vector<StepLine> lines, std::span<const std::string> ids);

// Prints a line to stderr for each kernel that has no row. Returns whether all have one.
bool report_missing(std::span<const StepLine> lines);

// One row a kernel: layer, kernel, shape, count, operations and bytes of one execution, operations
// per byte, and why not here; last the sums over the step.
std::string step_listing(std::span<const StepLine> lines);
Json step_json(std::span<const StepLine> lines);

}  // namespace warpmeter
