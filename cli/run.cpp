// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "calibrator/validation.h"
#include "cli/checks.h"
#include "cli/documents.h"
#include "cli/measure.h"
#include "cli/report_folder.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/provenance.h"

namespace warpmeter {
namespace {

struct RunOptions {
  MeasureOptions measure;
  std::filesystem::path folder = "warpmeter-run";
  bool replace = false;
};

void prepare_folder(const RunOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (!std::filesystem::is_directory(options.folder)) {
    throw InputError(fmt::format("cannot make the folder {}: {}; choose another with --out",
                                 options.folder.string(), error.message()));
  }
  const bool used = std::filesystem::exists(options.folder / "report.html");
  if (used && !options.replace && !options.measure.resume) {
    throw InputError(
        fmt::format("{} holds a finished run: add --replace to measure anew, or choose another "
                    "folder with --out",
                    options.folder.string()));
  }
}

void write_doctor(const std::filesystem::path& file, const Device& host, Context& context) {
  const auto host_checks = check_host(host);
  const auto gpu_checks = check_gpus();
  for (const Check& check : host_checks) {
    if (check.status != "ok") fmt::print(stderr, "doctor: {}: {}\n", check.name, check.detail);
  }
  write_json(file, Json{{"schema", "warpmeter.doctor/1"},
                        {"tool", tool_provenance(context.argv)},
                        {"host", to_json(host_checks)},
                        {"gpu", to_json(gpu_checks)}});
}

// One of the two measuring steps. A step that an interrupted run had finished is taken as it is.
Run measure_step(const std::string& name, const std::vector<Benchmark>& table, const Choice& choice,
                 const RunOptions& options, double share_of_time, Context& context) {
  MeasureOptions step = options.measure;
  step.out = options.folder / (name + ".run.json");
  step.time_budget_s *= share_of_time;
  const bool finished =
      std::filesystem::exists(step.out) && !std::filesystem::exists(step.out.string() + ".partial");
  if (step.resume && finished) return load_run(step.out);
  if (options.replace && !step.resume) step.fresh = true;
  return measure(table, choice, step, {}, name, context);
}

// For the whole job only what went wrong counts; what cannot be measured here, or not sharply, is
// part of its result.
int judge(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const auto wrong = [](const Measurement& m) {
      return m.verdict == Verdict::failed || m.verdict == Verdict::contaminated;
    };
    if (!run.complete || std::any_of(run.measurements.begin(), run.measurements.end(), wrong))
      return exit_not_as_asked;
  }
  return exit_done;
}

void print_scores(const Validation& validation) {
  for (const char* predictor : {"model", "nameplate", "mean"}) {
    const Score* score = find_score(validation, predictor, "held_out", "all");
    if (score == nullptr || !score->mape) continue;
    fmt::print(
        "held-out kernels, {:<9}: n {}, MAPE {:.1f} %, median {:.1f} %, p90 {:.1f} %, bias {:+.1f} "
        "%\n",
        predictor, score->n, 100 * *score->mape, 100 * *score->median, 100 * *score->p90,
        100 * *score->bias);
  }
}

void conclude(const RunOptions& options, const std::vector<Run>& runs, Context& context) {
  const std::vector<std::filesystem::path> files = {"bench.run.json", "kernels.run.json"};
  const Machine machine = calibrate_runs(runs, files, context.argv);
  save_machine(options.folder / "machine.json", machine);
  if (runs.size() > 1) {
    const Validation validation = validate(machine, kernel_run(runs));
    write_json(options.folder / "validation.json", to_json(validation));
    print_scores(validation);
  }
  fmt::print("report: {}\n", write_report(options.folder).string());
}

void execute(const RunOptions& options, Context& context) {
  prepare_folder(options);
  const Choice choice = choose_device(options.measure.device);
  fmt::print("device: {} ({})\n", to_string(choice.device), choice.reason);
  write_doctor(options.folder / "doctor.json", choose_device("cpu").device, context);
  const auto kernels = kernel_table(choice.device.kind);
  std::vector<Run> runs;
  runs.push_back(measure_step("bench", benchmark_table(choice.device.kind), choice, options,
                              kernels.empty() ? 0.9 : 0.5, context));
  if (kernels.empty()) {
    fmt::print(stderr, "kernels: none for {} yet\n", to_string(choice.device));
  } else if (!interrupted()) {
    runs.push_back(measure_step("kernels", kernels, choice, options, 0.4, context));
  }
  conclude(options, runs, context);
  context.exit_status = judge(runs);
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "run", "the main job: doctor, bench, kernels, calibrate, validate, report into one folder");
  auto options = std::make_shared<RunOptions>();
  add_measure_options(*command, options->measure);
  command->add_option("-o,--out", options->folder, "the folder to write")->capture_default_str();
  command->add_flag("--replace", options->replace, "replace a finished run in that folder");
  command->callback([options, &context] { execute(*options, context); });
}

}  // namespace warpmeter
