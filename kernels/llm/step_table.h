// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/benchmark.h"
#include "kernels/llm/step.h"

namespace warpmeter {

// One line of the list: a kernel of a step, and what the table knows of it.
struct StepLine {
  StepKernel kernel;
  const Benchmark* row = nullptr;  // null: no kernel here does it
  Parameters point;                // as it would be run; null row: the shape alone
  std::optional<Work> work;        // of one execution, if the row's model takes the shape
  std::string reason;              // why it cannot run on the device; else empty
};

// Finds the row of each kernel in `table`, which must outlive the result. Points have, besides the
// shape: kernel, family, model, layer, count, phase, tp and ep if more than one, residency (cold: a
// step finds its weights in DRAM), split (split_of), and threads on a CPU.
std::vector<StepLine> step_lines(std::span<const Benchmark> table, const Device& device,
                                 const ModelConfig& model, const StepOptions& options);

// Fills in work that `others`, the table of another kind of device, knows, and says where a kernel
// that is only there can run.
void add_work(std::vector<StepLine>& lines, std::span<const Benchmark> others);

// The rows of `lines` that have points, with these in place of their own.
std::vector<Benchmark> step_table(std::span<const StepLine> lines);

// "fit" if the row's own points have a fitting one of the same group, else "held_out". The group is
// the shape without what counts tokens (m, rows, batch, active, size) and without types.
std::string split_of(const Benchmark& row, const Parameters& shape);

// Operations, of all types, and bytes of one execution.
double operations(const Work& work);
inline double bytes_moved(const Work& work) { return work.bytes_read + work.bytes_written; }

}  // namespace warpmeter
