// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/compare.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "core/error.h"

namespace warpmeter {
namespace {

struct CompareOptions {
  std::filesystem::path a, b;
  bool mix = false;
  bool json = false;
};

Comparison compare_files(const CompareOptions& options) {
  const Json a = read_json(options.a);
  const Json b = read_json(options.b);
  const std::string schema_a = require_string(a, "schema", options.a.string());
  const std::string schema_b = require_string(b, "schema", options.b.string());
  if (schema_a != schema_b)
    throw InputError(fmt::format("{} is a {}, {} a {}: compare like with like", options.a.string(),
                                 schema_a, options.b.string(), schema_b));
  const Mixing mixing = options.mix ? Mixing::allow : Mixing::refuse;
  if (schema_a == machine_schema) {
    return compare(machine_from_json(a, options.a.string()),
                   machine_from_json(b, options.b.string()), mixing);
  }
  return compare(run_from_json(a, options.a.string()), run_from_json(b, options.b.string()),
                 mixing);
}

void execute(const CompareOptions& options) {
  const Comparison comparison = compare_files(options);
  if (options.json) {
    fmt::print("{}\n", to_json(comparison).dump(1));
  } else {
    fmt::print("{}", format_table(comparison));
  }
}

}  // namespace

void add_compare(CLI::App& app, Context&) {
  CLI::App* command = app.add_subcommand(
      "compare", "what differs between two machine or two run documents beyond their intervals");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("A", options->a, "a machine or run document")->required();
  command->add_option("B", options->b, "another of the same kind")->required();
  command->add_flag("--mix", options->mix, "allow different devices or sources");
  command->add_flag("--json", options->json, "machine-readable");
  command->callback([options] { execute(*options); });
}

}  // namespace warpmeter
