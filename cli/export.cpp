// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/export.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "core/error.h"

namespace warpmeter {
namespace {

struct ExportOptions {
  std::filesystem::path profile, out;
  std::string to;
};

void execute(const ExportOptions& options) {
  if (options.to != "perfetto" && options.to != "csv" && options.to != "json")
    throw InputError(fmt::format("unknown format \"{}\"; use perfetto, csv or json", options.to));
  const ProfileReader reader(options.profile, Integrity::all_pages);
  if (options.to == "csv") export_csv(reader, options.out);
  if (options.to == "json") export_json(reader, options.out);
  if (options.to == "perfetto") {
    const std::int64_t without_time = export_trace(reader, options.out);
    if (without_time != 0)
      fmt::print("{} kernels, copies and sets have no time and are not in the trace\n",
                 without_time);
  }
  if (!reader.complete())
    fmt::print("the profile is not complete: see v_losses and its provenance\n");
  fmt::print("{}\n", options.out.string());
}

}  // namespace

void add_export(CLI::App& app, Context&) {
  CLI::App* command = app.add_subcommand(
      "export",
      "a profile for other tools: a trace for Perfetto, CSV or JSON (simulators' configurations of "
      "a machine document come later)");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("PROFILE", options->profile, "a *.profile.sqlite")->required();
  command
      ->add_option("--to", options->to,
                   "perfetto (Chrome's trace JSON), csv (a folder, one file a view), json")
      ->required();
  command->add_option("-o,--out", options->out, "new file or folder")->required();
  command->callback([options] { execute(*options); });
}

}  // namespace warpmeter
