// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/context.h"
#include "cli/report_folder.h"
#include "core/error.h"

namespace warpmeter {
namespace {

std::vector<std::filesystem::path> run_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.size() > 9 && name.compare(name.size() - 9, 9, ".run.json") == 0)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Json json_if_there(const std::filesystem::path& file) {
  return std::filesystem::exists(file) ? read_json(file) : Json();
}

// Emulated numbers on one page with others would be taken for hardware's.
void refuse_mixture(const std::filesystem::path& folder, const ReportInput& input) {
  bool emulated = input.machine && input.machine->source == Source::emulated;
  bool other = input.machine && !emulated;
  for (const Run& run : input.runs) (run.source == Source::emulated ? emulated : other) = true;
  if (emulated && other)
    throw InputError(fmt::format(
        "{} holds emulated and other documents, which do not mix; keep them in folders of their "
        "own",
        folder.string()));
}

}  // namespace

std::filesystem::path write_report(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    throw InputError(fmt::format("{} is not a folder; name the one that `warpmeter run` wrote",
                                 folder.string()));
  ReportInput input;
  for (const auto& file : run_files(folder)) input.runs.push_back(load_run(file));
  if (std::filesystem::exists(folder / "machine.json"))
    input.machine = load_machine(folder / "machine.json");
  refuse_mixture(folder, input);
  if (input.runs.empty() && !input.machine) {
    throw InputError(fmt::format(
        "{} holds neither a *.run.json nor a machine.json; run `warpmeter run --out {}`",
        folder.string(), folder.string()));
  }
  input.validation = json_if_there(folder / "validation.json");
  const Json doctor = json_if_there(folder / "doctor.json");
  if (!doctor.is_null()) {
    input.findings = require(doctor, "host", "doctor.json");
    for (const Json& finding : require(doctor, "gpu", "doctor.json"))
      input.findings.push_back(finding);
  }
  const std::filesystem::path page = folder / "report.html";
  write_atomically(page, render_report(input));
  return page;
}

void add_report(CLI::App& app, Context&) {
  CLI::App* command =
      app.add_subcommand("report", "one self-contained HTML page from a folder of documents");
  auto folder = std::make_shared<std::filesystem::path>();
  command
      ->add_option("DIR", *folder, "holds *.run.json, machine.json, validation.json, doctor.json")
      ->required();
  command->callback([folder] { fmt::print("{}\n", write_report(*folder).string()); });
}

}  // namespace warpmeter
