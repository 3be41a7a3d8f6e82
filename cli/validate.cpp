// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "calibrator/validation.h"
#include "cli/context.h"
#include "cli/documents.h"

namespace warpmeter {
namespace {

struct ValidateOptions {
  std::filesystem::path machine;
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;
  bool json = false;
};

void execute(const ValidateOptions& options, Context& context) {
  const Machine machine = load_machine(options.machine);
  const Validation validation = validate(machine, kernel_run(load_runs(options.runs)));
  const Json document = to_json(validation);
  if (!options.out.empty()) write_json(options.out, document);
  if (options.json) {
    fmt::print("{}\n", document.dump(1));
  } else {
    fmt::print("{}", format_table(validation));
  }
  const Score* all = find_score(validation, "model", "held_out", "all");
  if (all == nullptr || all->n == 0) {
    fmt::print(stderr,
               "validate: no held-out kernel could be predicted; the reasons are with the rows\n");
    context.exit_status = exit_not_as_asked;
  }
}

}  // namespace

void add_validate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "validate", "compare predicted with measured kernel times, beside two baselines");
  auto options = std::make_shared<ValidateOptions>();
  command->add_option("MACHINE", options->machine, "a machine document")->required();
  command->add_option("RUN", options->runs, "run documents of kernels on the same device")
      ->required();
  command->add_option("-o,--out", options->out, "write the result as JSON too");
  command->add_flag("--json", options->json, "print JSON instead of a table");
  command->callback([options, &context] { execute(*options, context); });
}

}  // namespace warpmeter
