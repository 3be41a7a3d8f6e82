// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "cli/context.h"
#include "cli/emulate.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/version.h"

namespace warpmeter {
namespace {

constexpr const char* description =
    "Measures what a GPU (or this host's CPU) can really do, calibrates architecture models with "
    "it, and predicts and\n"
    "checks LLM kernels. Exit status: 0 done, 1 bad usage or input, 2 something could not be "
    "measured as asked, 3 refused.";

int fail(const std::string& text, int status) {
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "warpmeter: {}\n", line);
  return status;
}

int run_command(int argc, char** argv) {
  CLI::App app(description, "warpmeter");
  app.set_version_flag("--version", "warpmeter " WARPMETER_VERSION);
  app.require_subcommand(1);
  std::string chip;
  app.add_option("--emulate", chip,
                 "run on an emulated GPU instead of a real one: tiny, duo, ampere_like, "
                 "hopper_like or a chip file (docs/emulator.md)");
  Context context;
  context.argv.assign(argv, argv + argc);
  add_doctor(app, context);
  add_list(app, context);
  add_bench(app, context);
  add_kernels(app, context);
  add_calibrate(app, context);
  add_validate(app, context);
  add_compare(app, context);
  add_export(app, context);
  add_profile(app, context);
  add_merge(app, context);
  add_report(app, context);
  add_run(app, context);
  const auto commands = app.get_subcommands({});
  const std::string first = argc > 1 ? argv[1] : "-";
  if (first[0] != '-' && std::none_of(commands.begin(), commands.end(), [&](const auto* command) {
        return command->get_name() == first;
      })) {
    return fail(fmt::format("unknown command \"{}\"; see `warpmeter --help`", first),
                exit_bad_input);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help and --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(std::string(error.what()) + "; see `warpmeter --help`", exit_bad_input);
  }
  return context.exit_status;
}

}  // namespace
}  // namespace warpmeter

int main(int argc, char** argv) {
  using namespace warpmeter;
  catch_interrupts();
  try {
    start_emulated(argc, argv);
    return run_command(argc, argv);
  } catch (const InputError& error) {
    return fail(error.what(), exit_bad_input);
  } catch (const RefusedError& error) {
    return fail(error.what(), exit_refused);
  } catch (const std::exception& error) {
    return fail(fmt::format("internal error: {}; please report it", error.what()), exit_bad_input);
  }
}
