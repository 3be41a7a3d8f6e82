// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/documents.h"

namespace warpmeter {
namespace {

struct CalibrateOptions {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out = "machine.json";
  bool json = false;
};

void execute(const CalibrateOptions& options, Context& context) {
  const Machine machine = calibrate_runs(load_runs(options.runs), options.runs, context.argv);
  save_machine(options.out, machine);
  if (options.json) {
    fmt::print("{}\n", to_json(machine).dump(1));
    return;
  }
  fmt::print("{} ({})\n{}", machine.device, to_string(machine.source), machine_table(machine));
  const std::string missing = missing_parameters(machine);
  if (!missing.empty()) fmt::print("\nwithout a value:\n{}", missing);
  fmt::print(stderr, "calibrate: {} parameters -> {}\n", machine.parameters.size(),
             options.out.string());
}

}  // namespace

void add_calibrate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "turn run documents into a machine document: parameters with intervals");
  auto options = std::make_shared<CalibrateOptions>();
  command->add_option("RUN", options->runs, "run documents of one device")->required();
  command->add_option("-o,--out", options->out, "the machine document to write")
      ->capture_default_str();
  command->add_flag("--json", options->json, "print the document instead of a table");
  command->callback([options, &context] { execute(*options, context); });
}

}  // namespace warpmeter
