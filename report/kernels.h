// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report.h"

namespace warpmeter {

// One measured kernel, with what its work and the machine's ceilings say of it.
struct KernelRow {
  const Measurement* measurement = nullptr;  // of kernel.time, with a value
  std::string kernel, family, type, shape, split;
  double ops = 0;    // op, all pipes but the exponential
  double bytes = 0;  // B, compulsory reads and writes
  double time_s = 0;
  std::optional<double> bound_s;  // the longest time of one resource at its measured ceiling
  std::string bound;              // that resource, "" if unknown
};

// The kernels of all runs that have a value, in the order of the runs.
std::vector<KernelRow> kernel_rows(const ReportInput& input);

// The families in order of appearance: their index is their colour and symbol in every plot.
std::vector<std::string> families(const ReportInput& input);
std::size_t family_index(const std::vector<std::string>& all, const std::string& family);

}  // namespace warpmeter
