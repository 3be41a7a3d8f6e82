// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/step_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "kernels/llm/team.h"

namespace warpmeter {
namespace {

const Benchmark* find_row(std::span<const Benchmark> table, const std::string& id) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Benchmark& row) { return row.id == id; });
  return found == table.end() ? nullptr : &*found;
}

// What the row itself offers, at full size whatever the device.
std::vector<Parameters> own_points(const Benchmark& row) {
  const Device nowhere{row.device, 0, {}};
  return row.points ? row.points(nowhere, Effort::thorough) : std::vector<Parameters>{};
}

Parameters group_of(const Parameters& shape, const Parameters& like) {
  static const std::set<std::string> tokens = {"m", "rows", "batch", "active", "size", "type"};
  Parameters group;
  for (const auto& [name, unused] : like)
    if (!tokens.contains(name)) {
      const auto found = shape.find(name);
      if (found != shape.end()) group.insert(*found);
    }
  return group;
}

Parameters point_of(const Benchmark& row, const StepKernel& kernel, const Device& device,
                    const ModelConfig& model, const StepOptions& options) {
  Parameters point = kernel.shape;
  const std::string name = row.id.substr(row.id.find('.') + 1);
  const std::vector<Parameters> own = own_points(row);
  point["kernel"] = name;
  point["family"] = own.empty() ? name : word(own.front(), "family").value_or(name);
  point["model"] = model.name;
  point["layer"] = kernel.layer;
  point["count"] = double(kernel.count);
  point["phase"] = to_string(options.phase);
  if (options.tensor_parallel > 1) point["tp"] = double(options.tensor_parallel);
  if (options.expert_parallel > 1) point["ep"] = double(options.expert_parallel);
  point["residency"] = "cold";
  point["split"] = split_of(row, kernel.shape);
  if (device.kind == DeviceKind::cpu) point["threads"] = double(usable_cpus().size());
  return point;
}

// An interpreter takes minutes for what a GPU does in microseconds.
std::string too_long_to_emulate(const Device& device, const Work& work) {
  constexpr double most_operations = 1e9, most_bytes = 32 * 1024 * 1024;
  if (!is_emulated(device)) return "";
  if (operations(work) <= most_operations && bytes_moved(work) <= most_bytes) return "";
  return fmt::format(
      "{:.3g} operations on {:.3g} B: an emulated GPU is asked for at most {:.0e} "
      "on {:.3g} B; use a config of fewer columns",
      operations(work), bytes_moved(work), most_operations, most_bytes);
}

// Why the row cannot do the line's point; fills in its work.
std::string judge(StepLine& line, const Device& device) {
  const Benchmark& row = *line.row;
  const std::string type = word(line.point, "type").value_or("");
  if (device.kind == DeviceKind::cpu && type != "f32" && type != "bf16")
    return fmt::format("type {}: a host takes f32 or bf16", type);
  try {
    if (row.work) line.work = row.work(line.point);
    if (auto reason = row.unsupported ? row.unsupported(device, line.point) : std::nullopt)
      return *reason;
  } catch (const InputError& error) {
    return fmt::format("{} does not take this shape: {}", row.id, error.what());
  }
  return line.work ? too_long_to_emulate(device, *line.work) : "";
}

}  // namespace

double operations(const Work& work) {
  double sum = 0;
  for (const auto& [type, count] : work.ops) sum += count;
  return sum;
}

std::string split_of(const Benchmark& row, const Parameters& shape) {
  for (const Parameters& own : own_points(row))
    if (word(own, "split") == "fit" && group_of(own, shape) == group_of(shape, shape)) return "fit";
  return "held_out";
}

std::vector<StepLine> step_lines(std::span<const Benchmark> table, const Device& device,
                                 const ModelConfig& model, const StepOptions& options) {
  std::vector<StepLine> lines;
  for (StepKernel& kernel : step_kernels(model, options)) {
    StepLine line{std::move(kernel), nullptr, {}, {}, ""};
    line.point = line.kernel.shape;
    line.reason = line.kernel.missing;
    const Benchmark* row = find_row(table, line.kernel.id);
    if (line.reason.empty() && row == nullptr) {
      line.reason = fmt::format("no kernel here yet for {}", to_string(device));
    } else if (line.reason.empty()) {
      line.row = row;
      line.point = point_of(*row, line.kernel, device, model, options);
      line.reason = judge(line, device);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void add_work(std::vector<StepLine>& lines, std::span<const Benchmark> others) {
  for (StepLine& line : lines) {
    const Benchmark* row = find_row(others, line.kernel.id);
    if (!line.kernel.missing.empty() || row == nullptr) continue;
    if (line.row == nullptr)
      line.reason = row->device == DeviceKind::cuda ? "on GPUs only" : "on hosts only";
    if (line.work || !row->work) continue;
    try {
      line.work = row->work(line.point);
    } catch (const InputError&) {  // a shape that only another kernel of that name takes
    }
  }
}

std::vector<Benchmark> step_table(std::span<const StepLine> lines) {
  std::vector<Benchmark> table;
  std::map<std::string, std::vector<Parameters>> points;
  std::map<std::string, std::string> reasons;  // by point
  for (const StepLine& line : lines) {
    if (line.row == nullptr) continue;
    if (!points.contains(line.row->id)) table.push_back(*line.row);
    points[line.row->id].push_back(line.point);
    if (!line.reason.empty()) reasons[to_string(line.point)] = line.reason;
  }
  for (Benchmark& row : table) {
    row.points = [own = points.at(row.id)](const Device&, Effort) { return own; };
    row.unsupported = [reasons](const Device&, const Parameters& p) -> std::optional<std::string> {
      const auto found = reasons.find(to_string(p));
      return found == reasons.end() ? std::nullopt : std::optional(found->second);
    };
  }
  return table;
}

}  // namespace warpmeter
