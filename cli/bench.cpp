// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/measure.h"
#include "cli/step.h"
#include "core/error.h"
#include "kernels/llm/layer_stack.h"

namespace warpmeter {
namespace {

// What is left on the command line after our own options: Google Benchmark's flags.
std::vector<std::string> google_benchmark_flags(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const std::string& text : command.remaining()) {
    if (text.rfind("--benchmark_", 0) != 0)
      throw InputError(
          fmt::format("unknown option {}; see `warpmeter {} --help`", text, command.get_name()));
    flags.push_back(text);
  }
  return flags;
}

bool names_flag(const std::vector<std::string>& flags, std::string_view name) {
  for (const std::string& flag : flags) {
    if (flag == name || flag.rfind(fmt::format("{}=", name), 0) == 0) return true;
  }
  return false;
}

void list_points(const std::vector<Benchmark>& table, const Choice& choice,
                 const MeasureOptions& options, const std::vector<std::string>& flags) {
  RunnerOptions runner;
  runner.effort = parse_effort(options.effort);
  runner.benchmark_flags = flags;
  runner.lists_only = true;
  run_benchmarks(table, choice.device, runner);
}

// What one of the two commands was asked for.
struct Arguments {
  MeasureOptions measure;
  // Of kernels.
  StepArguments step;
  bool stack = false;  // --step
  std::int64_t layers = 4;
  std::string launch;  // empty: eager, of a whole step graph
};

// The table of `kernels --step`.
std::vector<Benchmark> stack_table(const Arguments& arguments, const Device& device) {
  const StepArguments& step = arguments.step;
  if (!step.asked_for())
    throw InputError("--step needs --model: llama-3-8b, llama-3-70b or a config.json");
  if (!arguments.measure.ids.empty())
    throw InputError("--step runs kernel.step alone; leave out " + arguments.measure.ids.front());
  if (step.tp != 1 || step.ep != 1)
    throw InputError("--step runs on one device; leave out --tp and --ep");
  if (step.type != "bf16") throw InputError("--step runs in bf16; leave out --type " + step.type);
  if (device.kind != DeviceKind::cuda)
    throw InputError("--step needs a GPU; `warpmeter list --kernels --model` lists its kernels");
  const ModelConfig model = load_model(step.model);
  return step_rows({stack_point(
      stack_shape(model, arguments.layers, parse_phase(step.phase), step.batch, step.context),
      model.name)});
}

// The same points, launched as a CUDA graph.
std::vector<Benchmark> by_graph(std::vector<Benchmark> table, const Device& device) {
  if (device.kind != DeviceKind::cuda)
    throw InputError("--launch graph: a CPU has no CUDA graphs; use --launch eager or a GPU");
  for (Benchmark& row : table) {
    row.points = [points = row.points](const Device& on, Effort effort) {
      std::vector<Parameters> result = points(on, effort);
      for (Parameters& point : result) point["launch"] = "graph";
      return result;
    };
    row.unsupported = [unsupported = row.unsupported](const Device& on, Parameters point) {
      point.erase("launch");  // whether a point can run does not depend on it
      return unsupported(on, point);
    };
  }
  return table;
}

void execute(const CLI::App& command, const Arguments& arguments, Context& context,
             std::vector<Benchmark> (*table_of)(DeviceKind), const std::string& job) {
  MeasureOptions options = arguments.measure;
  const std::vector<std::string> flags = google_benchmark_flags(command);
  const Choice choice = choose_device(options.device);
  fmt::print(stderr, "device: {} ({})\n", to_string(choice.device), choice.reason);
  std::vector<Benchmark> table = table_of(choice.device.kind);
  if (table.empty())
    throw InputError(
        fmt::format("there is no {} for {} yet; use --device cpu", job, to_string(choice.device)));
  const std::vector<Benchmark> whole_table = table;
  if (arguments.stack) {
    table = stack_table(arguments, choice.device);
  } else if (arguments.step.asked_for()) {
    const auto lines =
        select_lines(find_step(arguments.step, whole_table, choice.device), options.ids);
    if (!report_missing(lines)) context.exit_status = exit_not_as_asked;
    table = step_table(lines);
    options.ids.clear();
  }
  const std::string launch =
      arguments.launch.empty() ? (arguments.stack ? "graph" : "eager") : arguments.launch;
  if (launch == "graph") table = by_graph(std::move(table), choice.device);
  if (names_flag(flags, "--benchmark_list_tests"))
    return list_points(table, choice, options, flags);
  const Run run = measure(table, choice, options, flags, job, context);
  if (options.json) {
    fmt::print("{}\n", to_json(run).dump(1));
  } else if (!names_flag(flags, "--benchmark_format")) {
    fmt::print("{}", measurement_table(run));
  }
}

void add_measuring(CLI::App& app, Context& context, const std::string& name,
                   const std::string& help, std::vector<Benchmark> (*table_of)(DeviceKind)) {
  CLI::App* command = app.add_subcommand(name, help);
  auto arguments = std::make_shared<Arguments>();
  MeasureOptions& options = arguments->measure;
  options.out = name + ".run.json";
  add_measure_options(*command, options);
  if (name == "kernels") {
    add_step_options(*command, arguments->step);
    command
        ->add_option("--launch", arguments->launch,
                     "eager: each kernel by itself; graph: a sample's executions as a CUDA graph; "
                     "default: eager, with --step graph")
        ->check(CLI::IsMember({"eager", "graph"}));
    CLI::Option* step = command->add_flag(
        "--step", arguments->stack,
        "one step of a stack of the --model's layers, with random weights, as one row");
    command->add_option("--layers", arguments->layers, "of --step")
        ->capture_default_str()
        ->needs(step);
  }
  command->add_option("-o,--out", options.out, "the run document to write")->capture_default_str();
  command->add_option("ID", options.ids,
                      "rows to run, whole or up to a dot (latency, bandwidth.read); default: all");
  command->footer(
      "Google Benchmark's flags work too: --benchmark_filter=REGEX on the ids of the points, "
      "--benchmark_repetitions=N\n"
      "(campaigns), --benchmark_out=FILE, --benchmark_format=json|csv|console, "
      "--benchmark_list_tests.");
  command->allow_extras();
  command->callback([command, arguments, &context, table_of, name] {
    execute(*command, *arguments, context, table_of, name);
  });
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  add_measuring(app, context, "bench", "run microbenchmarks to a run document", benchmark_table);
}

void add_kernels(CLI::App& app, Context& context) {
  add_measuring(app, context, "kernels", "run verified LLM kernels to a run document",
                kernel_table);
}

}  // namespace warpmeter
