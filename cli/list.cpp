// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/list_metrics.h"
#include "cli/measure.h"
#include "cli/step.h"
#include "core/error.h"
#include "core/table.h"

namespace warpmeter {
namespace {

struct ListOptions {
  std::string device;
  bool kernels = false;
  bool metrics = false;
  bool json = false;
  MetricsArguments counters;
  StepArguments step;
};

// How many points of a row can run here, and why the others cannot.
struct Feasible {
  int points = 0;
  int possible = 0;
  std::string reason;
};

Feasible feasible(const Benchmark& row, const Device& device) {
  Feasible out;
  for (const Parameters& parameters : row.points(device, Effort::standard)) {
    ++out.points;
    const auto reason = row.unsupported ? row.unsupported(device, parameters) : std::nullopt;
    if (reason) {
      out.reason = *reason;
    } else {
      ++out.possible;
    }
  }
  return out;
}

void print_table(const std::vector<Benchmark>& table, const Device& device) {
  std::vector<std::vector<std::string>> rows;
  for (const Benchmark& row : table) {
    const Feasible here = feasible(row, device);
    rows.push_back({row.id, std::string(to_string(row.unit)),
                    fmt::format("{}/{}", here.possible, here.points), row.method, here.reason});
  }
  fmt::print("{}", format_table({"id", "unit", "points", "method", "not here because"}, rows));
}

void print_json(const std::vector<Benchmark>& table, const Device& device) {
  Json list = Json::array();
  for (const Benchmark& row : table) {
    const Feasible here = feasible(row, device);
    list.push_back({{"id", row.id},
                    {"quantity", row.quantity},
                    {"unit", to_string(row.unit)},
                    {"device", to_string(device)},
                    {"points", here.points},
                    {"possible", here.possible},
                    {"reason", here.reason},
                    {"method", row.method}});
  }
  fmt::print("{}\n", list.dump(1));
}

// Rows of a device kind that is not here are listed all the same: a table is read to plan a visit
// to the lab.
void execute(const ListOptions& options) {
  if (options.counters.given())
    throw InputError("--chip, --set, --collector and --breakdown: add --metrics");
  const Choice choice = choose_device(options.device);
  if (!options.json)
    fmt::print(stderr, "device: {} ({})\n", to_string(choice.device), choice.reason);
  if (options.step.asked_for() && !options.kernels)
    throw InputError("--model lists kernels: add --kernels");
  const auto table =
      options.kernels ? kernel_table(choice.device.kind) : benchmark_table(choice.device.kind);
  if (options.step.asked_for()) {
    const auto lines = find_step(options.step, table, choice.device);
    fmt::print("{}", options.json ? step_json(lines).dump(1) + "\n" : step_listing(lines));
    return;
  }
  if (options.json) return print_json(table, choice.device);
  print_table(table, choice.device);
  if (choice.device.kind == DeviceKind::cuda || !options.device.empty() || options.kernels) return;
  std::vector<std::vector<std::string>> rows;
  for (const Benchmark& row : benchmark_table(DeviceKind::cuda))
    rows.push_back({row.id, std::string(to_string(row.unit)), row.method});
  if (!rows.empty()) fmt::print("\non a GPU:\n{}", format_table({"id", "unit", "method"}, rows));
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "list", "show the benchmark, kernel and counter tables and what can run here");
  auto options = std::make_shared<ListOptions>();
  command->add_option("--device", options->device,
                      "cpu or cuda:N; default: the first GPU, else the CPU");
  command->add_flag("--kernels", options->kernels,
                    "the LLM kernels instead of the microbenchmarks");
  command->add_flag("--metrics", options->metrics,
                    "the hardware counters of a chip, which need not be here, and their passes");
  command->add_option("--chip", options->counters.chip, "with --metrics: GB100, GH100, ...");
  command->add_option("--set", options->counters.set,
                      "with --metrics: diagnose, tensor, memory, links or stalls; default: all");
  command->add_option("--collector", options->counters.collector,
                      "with --metrics: range (replayed) or pm (sampled in one pass)");
  command->add_option(
      "--breakdown", options->counters.breakdown,
      "with --metrics: what a throughput such as sol.sm or sm__throughput is made of");
  command->add_flag("--json", options->json, "machine-readable");
  add_step_options(*command, options->step);
  command->callback([options, &context] {
    if (!options->metrics) return execute(*options);
    if (options->kernels || options->step.asked_for())
      throw InputError("--metrics and --kernels exclude each other");
    options->counters.json = options->json;
    if (!list_metrics(options->counters)) context.exit_status = exit_not_as_asked;
  });
}

}  // namespace warpmeter
