// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "core/run.h"

namespace CLI {
class App;
}

namespace warpmeter {

// Exit statuses of every command.
enum ExitStatus : int {
  exit_done = 0,
  exit_bad_input = 1,
  exit_not_as_asked = 2,
  exit_refused = 3
};

// Shared by all commands.
struct Context {
  std::vector<std::string> argv;
  int exit_status = exit_done;
};

// Each adds one subcommand whose callback does the work and sets the exit status.
void add_doctor(CLI::App& app, Context& context);
void add_list(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_kernels(CLI::App& app, Context& context);
void add_calibrate(CLI::App& app, Context& context);
void add_validate(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_merge(CLI::App& app, Context& context);
void add_profile(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);

}  // namespace warpmeter
