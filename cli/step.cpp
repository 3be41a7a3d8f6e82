// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cli/step.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/error.h"
#include "core/table.h"

namespace warpmeter {
namespace {

StepOptions step_options(const StepArguments& arguments) {
  StepOptions options;
  options.phase = parse_phase(arguments.phase);
  options.batch = arguments.batch;
  options.context = arguments.context;
  options.tensor_parallel = arguments.tp;
  options.expert_parallel = arguments.ep;
  options.type = parse_element(arguments.type);
  return options;
}

bool selects(const std::string& id, const StepLine& line) {
  return line.kernel.id == id || line.kernel.id.rfind(id + ".", 0) == 0;
}

// Sums over a step, of the kernels whose work is known.
struct Sums {
  double kernels = 0, operations = 0, bytes = 0, unknown = 0;
};

Sums sums_of(std::span<const StepLine> lines) {
  Sums sums;
  for (const StepLine& line : lines) {
    const double count = double(line.kernel.count);
    sums.kernels += count;
    if (!line.work) {
      sums.unknown += count;
      continue;
    }
    sums.operations += count * operations(*line.work);
    sums.bytes += count * bytes_moved(*line.work);
  }
  return sums;
}

std::vector<std::string> cells(const StepLine& line) {
  const StepKernel& kernel = line.kernel;
  std::string ops = "-", bytes = "-", intensity = "-";
  if (line.work) {
    ops = fmt::format("{:.4g}", operations(*line.work));
    bytes = fmt::format("{:.4g}", bytes_moved(*line.work));
    intensity = fmt::format("{:.3g}", operations(*line.work) / bytes_moved(*line.work));
  }
  return {
      kernel.layer, kernel.id,  to_string(kernel.shape), std::to_string(kernel.count), ops, bytes,
      intensity,    line.reason};
}

}  // namespace

void add_step_options(CLI::App& command, StepArguments& arguments) {
  CLI::Option* model = command.add_option(
      "--model", arguments.model,
      "the kernels of one step of this model: llama-3-8b, llama-3-70b, qwen3-moe, deepseek-v3, "
      "gpt-oss-120b, or a Hugging Face config.json");
  const auto add = [&](const char* name, auto& value, const char* help) {
    command.add_option(name, value, help)->capture_default_str()->needs(model);
  };
  add("--phase", arguments.phase, "prefill, decode or train");
  add("--batch", arguments.batch, "sequences");
  add("--context", arguments.context, "tokens of each, cached ones included");
  add("--tp", arguments.tp, "tensor-parallel ranks");
  add("--ep", arguments.ep, "expert-parallel ranks");
  add("--type", arguments.type, "of the weights: bf16, f16, e4m3; f32 for hosts without bf16");
}

std::vector<StepLine> find_step(const StepArguments& arguments, std::span<const Benchmark> table,
                                const Device& device) {
  const ModelConfig model = load_model(arguments.model);
  std::vector<StepLine> lines = step_lines(table, device, model, step_options(arguments));
  const bool on_host = device.kind == DeviceKind::cpu;
  add_work(lines, kernel_table(on_host ? DeviceKind::cuda : DeviceKind::cpu));
  return lines;
}

std::vector<StepLine> select_lines(std::vector<StepLine> lines, std::span<const std::string> ids) {
  if (ids.empty()) return lines;
  std::vector<StepLine> chosen;
  for (const std::string& id : ids)
    if (std::none_of(lines.begin(), lines.end(), [&](const auto& l) { return selects(id, l); }))
      throw InputError(
          fmt::format("{} is not in this step; see `warpmeter list --kernels` with "
                      "the same --model",
                      id));
  for (StepLine& line : lines)
    if (std::any_of(ids.begin(), ids.end(), [&](const auto& id) { return selects(id, line); }))
      chosen.push_back(std::move(line));
  return chosen;
}

bool report_missing(std::span<const StepLine> lines) {
  bool complete = true;
  for (const StepLine& line : lines) {
    if (line.row != nullptr) continue;
    complete = false;
    fmt::print(stderr, "kernels: {} ({}, {} per step) is not run: {}\n", line.kernel.layer,
               line.kernel.id, line.kernel.count, line.reason);
  }
  return complete;
}

std::string step_listing(std::span<const StepLine> lines) {
  std::vector<std::vector<std::string>> rows;
  for (const StepLine& line : lines) rows.push_back(cells(line));
  const Sums sums = sums_of(lines);
  std::string text = format_table(
      {"layer", "kernel", "shape", "count", "operations", "bytes", "op/B", "not here because"},
      rows);
  text += fmt::format("one step: {} kernels, {:.4g} operations, {:.4g} bytes", sums.kernels,
                      sums.operations, sums.bytes);
  if (sums.unknown > 0) text += fmt::format("; {} kernels of unknown work", sums.unknown);
  return text + "\n";
}

Json step_json(std::span<const StepLine> lines) {
  Json list = Json::array();
  for (const StepLine& line : lines) {
    const bool known = line.work.has_value();
    list.push_back(
        {{"layer", line.kernel.layer},
         {"kernel", line.kernel.id},
         {"shape", to_json(line.kernel.shape)},
         {"count", line.kernel.count},
         {"work", known ? to_json(*line.work) : Json()},
         {"operations", known ? Json(operations(*line.work)) : Json()},
         {"bytes", known ? Json(bytes_moved(*line.work)) : Json()},
         {"intensity", known ? Json(operations(*line.work) / bytes_moved(*line.work)) : Json()},
         {"possible", line.row != nullptr && line.reason.empty()},
         {"reason", line.reason}});
  }
  return list;
}

}  // namespace warpmeter
