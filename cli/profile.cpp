// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the command itself prints goes to stderr: stdout belongs to the profiled program, and with
// --json to the summary.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "cli/context.h"
#include "cli/emulate.h"
#include "cli/profile_summary.h"
#include "core/error.h"
#include "core/provenance.h"
#include "profiler/launch.h"
#include "profiler/merge.h"

namespace warpmeter {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience{10};

struct ProfileOptions {
  std::vector<std::string> command;
  fs::path out = "warpmeter.profile.sqlite";
  InjectOptions inject;
  double budget_percent = 3;
  double duration_s = 0;
  std::vector<double> rounds;
  double memory_mib = 256;
  bool start_disarmed = false, keep_shards = false, json = false;
};

template <typename... T>
void say(fmt::format_string<T...> text, T&&... values) {
  fmt::print(stderr, "{}\n", fmt::format(text, std::forward<T>(values)...));
}

fs::path injected_library() {
  const fs::path file = fs::read_symlink("/proc/self/exe").parent_path() / "libwarpmeter_inject.so";
  if (!fs::exists(file))
    throw InputError(fmt::format(
        "{} is missing: warpmeter was built without CUPTI's headers, or moved without its library",
        file.string()));
  return file;
}

// The emulated GPU's driver and CUPTI, behind its runtime. Programs that open the runtime late
// (Python) would otherwise have the host's clock, on which ranges do not match kernels.
void use_emulated_driver() {
  const fs::path folder = emulated_driver_folder();
  const auto add = [](const char* name, const fs::path& last) {
    const char* path = std::getenv(name);
    const std::string before = path && *path ? std::string(path) + ":" : "";
    ::setenv(name, (before + last.string()).c_str(), 1);
  };
  add("LD_LIBRARY_PATH", folder);
  add("LD_PRELOAD", folder.parent_path() / "libcudart.so.13");
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder))
    throw InputError(fmt::format(
        "{} is there, of a profile that was not merged; merge its files with warpmeter merge, or "
        "remove it",
        folder.string()));
  if (!fs::create_directory(folder, error))
    throw InputError(fmt::format("cannot write {}: {}", folder.string(),
                                 error ? error.message() : "it is no folder"));
}

InjectOptions inject_options(const ProfileOptions& options, const fs::path& folder) {
  InjectOptions inject = options.inject;
  inject.folder = fs::absolute(folder);
  inject.armed = !options.start_disarmed && inject.wait_for_range.empty();
  inject.overhead_budget = options.budget_percent / 100;
  if (!options.rounds.empty())
    inject.rounds = {options.rounds[0], options.rounds[1],
                     static_cast<std::size_t>(options.rounds[2]), options.rounds[3]};
  if (options.duration_s > 0) inject.duration_s = options.duration_s;
  inject.memory_bytes = static_cast<std::size_t>(options.memory_mib * (1 << 20));
  return read_inject_options(to_json(inject).dump());  // checked as the library will
}

void execute(const ProfileOptions& options, Context& context) {
  if (fs::exists(fs::symlink_status(options.out)))
    throw InputError(
        fmt::format("{} is there; name another file with --out", options.out.string()));
  const fs::path library = injected_library();
  const fs::path folder = options.out.string() + ".shards";
  const InjectOptions inject = inject_options(options, folder);
  if (emulation_asked_for()) use_emulated_driver();
  make_folder(folder);
  CommandEnd end;
  try {
    end = run_injected(options.command, library, inject);
  } catch (const InputError&) {
    fs::remove_all(folder);
    throw;
  }
  if (!end.ok()) {
    say("{} {}", options.command[0], to_string(end));
    context.exit_status = exit_not_as_asked;
  }
  const std::vector<int> writing = wait_for_writers(folder, patience);
  for (const int pid : writing)
    say("process {} still runs; its shard stays in {}", pid, folder.string());
  ShardFolder found = look_into(folder);
  for (const std::string& note : found.notes) say("{}", note);
  if (!found.notes.empty()) context.exit_status = exit_not_as_asked;
  std::erase_if(found.shards, [&](const fs::path& shard) {
    return std::find(writing.begin(), writing.end(), std::atoi(shard.filename().c_str())) !=
           writing.end();
  });
  if (found.shards.empty()) {
    say("0 launches seen{}{}", found.notes.empty() ? ": no process of the command used CUDA" : "",
        found.notes.empty() && inject.collects("nvtx") ? " or NVTX" : "");
    context.exit_status = exit_not_as_asked;
    if (writing.empty()) fs::remove_all(folder);
    return;
  }
  try {
    merge_profiles(found.shards, options.out, tool_provenance(context.argv));
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}; the files to merge are in {}", error.what(), folder.string()));
  }
  if (writing.empty() && !options.keep_shards) fs::remove_all(folder);
  const ProfileSummary summary = summarize(ProfileReader(options.out));
  if (options.json)
    fmt::print("{}\n", to_json(summary).dump(1));
  else
    fmt::print(stderr, "{}", format_summary(summary));
  if (summary.kernels == 0) {
    say("{} launches seen{}", summary.launches,
        summary.launches == 0 ? "" : ", but no kernel: CUPTI gave no records of them");
    context.exit_status = exit_not_as_asked;
  }
  say("{}", options.out.string());
}

struct MergeOptions {
  std::vector<fs::path> shards;
  fs::path out;
};

}  // namespace

void add_profile(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "profile",
      "timeline and counters of an unmodified program and its children: profile -- CMD ARGS");
  auto options = std::make_shared<ProfileOptions>();
  options->inject.collect = {"timeline", "nvtx", "nvml", "pm"};
  command->add_option("CMD", options->command, "the program and its arguments, after --")
      ->required()
      ->expected(-1);
  command->add_option("-o,--out", options->out, "new profile")->capture_default_str();
  command
      ->add_option("--collect", options->inject.collect,
                   fmt::format("what to collect: {}", fmt::join(collector_names(), ", ")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--set", options->inject.metrics, "set of metrics for pm and range")
      ->capture_default_str();
  const std::map<std::string, double> units = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  command->add_option("--duration", options->duration_s, "stop collecting after this time (30s)")
      ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::CASE_SENSITIVE, "s"));
  command->add_option("--wait-for-range", options->inject.wait_for_range,
                      "start to collect when an NVTX range of this name begins");
  command->add_flag("--start-disarmed", options->start_disarmed,
                    "collect nothing until \"arm\" is written into OUT.shards/control");
  command->add_option("--pid-filter", options->inject.only,
                      "only processes whose command line contains this");
  command
      ->add_option("--overhead-budget", options->budget_percent,
                   "percent that collecting may cost; 0: not measured")
      ->check(CLI::Range(0., 100.))
      ->capture_default_str();
  command
      ->add_option("--overhead-rounds", options->rounds,
                   "how overhead is measured: WARM_UP,WINDOW,PAIRS,PERIOD in seconds and pairs of "
                   "windows (default 5,0.2,6,60)")
      ->delimiter(',')
      ->expected(4)
      ->check(CLI::Range(0., 1e6));
  command->add_option("--memory", options->memory_mib, "MiB of buffers in each process")
      ->check(CLI::Range(8., 65536.))
      ->capture_default_str();
  command->add_flag("--keep-shards", options->keep_shards, "keep the file of each process");
  command->add_flag("--json", options->json, "summary as JSON on stdout");
  command->callback([options, &context] { execute(*options, context); });
}

void add_merge(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "merge", "joins profiles of several processes of a host, as profile does at its end");
  auto options = std::make_shared<MergeOptions>();
  command->add_option("PROFILE", options->shards, "files *.profile.sqlite or *.partial")
      ->required();
  command->add_option("-o,--out", options->out, "new profile")->required();
  command->callback([options, &context] {
    merge_profiles(options->shards, options->out, tool_provenance(context.argv));
    fmt::print(stderr, "{}{}\n", format_summary(summarize(ProfileReader(options->out))),
               options->out.string());
  });
}

}  // namespace warpmeter
