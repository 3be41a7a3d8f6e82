// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/resources.h"
#include "report/number_text.h"

namespace warpmeter {

namespace {

// Everything that is not shown elsewhere: "m 1, n 4096, k 4096, 2 threads, cold".
std::string shape_of(const Parameters& parameters) {
  static constexpr std::array shown_elsewhere = {"kernel", "family", "type", "split", "model"};
  Parameters shape = parameters;
  for (const char* name : shown_elsewhere) shape.erase(name);
  return parameters_text(shape);
}

void add_work(const ReportInput& input, KernelRow& row) {
  const Work& work = *row.measurement->work;
  for (const auto& [pipe, ops] : work.ops) row.ops += pipe == "exp" ? 0 : ops;
  row.bytes = work.bytes_read + work.bytes_written;
  if (!input.machine) return;
  for (const Resource& resource :
       demand_of(*input.machine, work, row.measurement->parameters).resources) {
    if (row.bound_s && resource.time_s <= *row.bound_s) continue;
    row.bound_s = resource.time_s;
    row.bound = resource.name;
  }
}

}  // namespace

std::vector<KernelRow> kernel_rows(const ReportInput& input) {
  std::vector<KernelRow> rows;
  for (const Run& run : input.runs) {
    for (const Measurement* measurement : with_quantity(run, "kernel.time")) {
      if (!measurement->value || *measurement->value <= 0) continue;
      const Parameters& parameters = measurement->parameters;
      KernelRow row;
      row.measurement = measurement;
      row.kernel = word(parameters, "kernel").value_or("");
      row.family = word(parameters, "family").value_or("");
      row.type = word(parameters, "type").value_or("");
      row.split = word(parameters, "split").value_or("");
      row.shape = shape_of(parameters);
      row.time_s = *measurement->value;
      if (measurement->work) add_work(input, row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<std::string> families(const ReportInput& input) {
  std::vector<std::string> all;
  for (const KernelRow& row : kernel_rows(input)) {
    if (std::find(all.begin(), all.end(), row.family) == all.end()) all.push_back(row.family);
  }
  return all;
}

std::size_t family_index(const std::vector<std::string>& all, const std::string& family) {
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), family) - all.begin());
}

}  // namespace warpmeter
