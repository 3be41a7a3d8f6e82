// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cli/measure.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/provenance.h"
#include "core/table.h"
#include "microbench/selection.h"

namespace warpmeter {
namespace {

Journal::Existing existing_policy(const MeasureOptions& options) {
  if (options.resume && options.fresh) throw InputError("--resume and --fresh exclude each other");
  if (options.resume) return Journal::Existing::resume;
  return options.fresh ? Journal::Existing::discard : Journal::Existing::refuse;
}

std::string interval_text(const Measurement& m) {
  if (!m.interval || !m.value || *m.value == 0) return "";
  return fmt::format("{:+.1f} % {:+.1f} %", 100 * (m.interval->lo / *m.value - 1),
                     100 * (m.interval->hi / *m.value - 1));
}

std::string verdict_counts(const Run& run) {
  std::map<std::string, int> counts;
  for (const Measurement& m : run.measurements) ++counts[std::string(to_string(m.verdict))];
  std::string text;
  for (const auto& [verdict, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict);
  return text;
}

bool all_usable(const Run& run) {
  for (const Measurement& m : run.measurements) {
    if (!m.value || !usable(m.verdict)) return false;
  }
  return true;
}

}  // namespace

Effort parse_effort(const std::string& text) {
  if (text == "quick") return Effort::quick;
  if (text == "standard") return Effort::standard;
  if (text == "thorough") return Effort::thorough;
  throw InputError(fmt::format("unknown effort \"{}\": quick, standard or thorough", text));
}

double parse_duration(const std::string& text) {
  if (text.empty()) return 0;
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  const std::string unit = text.substr(used);
  const std::map<std::string, double> seconds = {
      {"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
  if (used == 0 || !seconds.contains(unit) || !(value > 0) || value > 1e6) {
    throw InputError(fmt::format("bad duration \"{}\": write it as 90s, 8m or 1h", text));
  }
  return value * seconds.at(unit);
}

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  command.add_option("--device", options.device,
                     "cpu or cuda:N; default: the first GPU, else the CPU");
  command.add_option("--effort", options.effort, "quick (a smoke test), standard or thorough")
      ->capture_default_str();
  command
      .add_option("--campaigns", options.campaigns, "independent campaigns per point, 1 to 1000")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option_function<std::string>(
      "--time-budget",
      [&options](const std::string& text) { options.time_budget_s = parse_duration(text); },
      "begin no new campaign after this time, as in 90s, 8m, 1h");
  command.add_flag("--resume", options.resume, "go on with an interrupted run of the same options");
  command.add_flag("--fresh", options.fresh, "discard an interrupted run");
  command.add_flag("--json", options.json, "print the document instead of a table");
}

Run measure(const std::vector<Benchmark>& table, const Choice& choice,
            const MeasureOptions& options, const std::vector<std::string>& benchmark_flags,
            const std::string& job, Context& context) {
  const std::vector<Benchmark> chosen = select(table, options.ids);
  RunnerOptions runner;
  runner.effort = parse_effort(options.effort);
  runner.campaigns = options.campaigns;
  runner.time_budget_s = options.time_budget_s;
  runner.journal = options.out.string() + ".partial";
  runner.existing = existing_policy(options);
  runner.benchmark_flags = benchmark_flags;
  runner.job = job;
  if (runner.effort == Effort::quick) runner.sampler = Sampler({5, 10, 0.01, 0.02});
  // A virtual clock repeats itself: more samples would show the same numbers again.
  if (is_emulated(choice.device)) runner.sampler = Sampler({3, 10, 0.01, 0.02});
  Run run;
  run.tool = tool_provenance(context.argv);
  run.host = host_provenance();
  run.device = to_string(choice.device);
  if (is_emulated(choice.device)) run.source = Source::emulated;
  run.facts = choice.device.facts;
  RunnerResult result = run_benchmarks(chosen, choice.device, runner);
  run.measurements = std::move(result.measurements);
  run.complete = result.complete;
  run.host["load_average_after"] = host_provenance().at("load_average");
  save_run(options.out, run);
  fmt::print(stderr, "{}: {} measurements ({}) -> {}\n", job, run.measurements.size(),
             verdict_counts(run), options.out.string());
  if (!run.complete) {
    fmt::print(stderr, "{}: {}; {} campaigns not run; go on with --resume\n", job,
               interrupted() ? "interrupted" : "time budget used up", result.missing);
  }
  if (!run.complete || !all_usable(run)) context.exit_status = exit_not_as_asked;
  return run;
}

std::string measurement_table(const Run& run) {
  std::vector<std::vector<std::string>> rows;
  for (const Measurement& m : run.measurements) {
    rows.push_back({m.id, m.value ? format_si(*m.value, m.unit) : "-", interval_text(m),
                    std::string(to_string(m.verdict)), m.reason});
  }
  return format_table({"measurement", "value", "90 % interval", "verdict", "reason"}, rows);
}

}  // namespace warpmeter
