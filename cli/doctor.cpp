// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/checks.h"
#include "cli/context.h"
#include "cli/devices.h"
#include "cli/validate_counters.h"
#include "core/provenance.h"
#include "core/table.h"

namespace warpmeter {
namespace {

void print_checks(const std::string& title, const std::vector<Check>& checks) {
  std::vector<std::vector<std::string>> rows;
  for (const Check& check : checks)
    rows.push_back({check.name, check.status, check.detail, check.remedy});
  fmt::print("{}\n{}\n", title, format_table({"check", "status", "detail", "remedy"}, rows));
}

void execute(bool json, Context& context) {
  const Choice host = choose_device("cpu");
  const auto host_checks = check_host(host.device);
  const auto gpu_checks = check_gpus();
  if (json) {
    Json document{{"schema", "warpmeter.doctor/1"},
                  {"tool", tool_provenance(context.argv)},
                  {"host", to_json(host_checks)},
                  {"gpu", to_json(gpu_checks)},
                  {"facts", to_json(host.device.facts)}};
    fmt::print("{}\n", document.dump(1));
  } else {
    print_checks("this host", host_checks);
    print_checks("GPUs", gpu_checks);
  }
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("doctor", "what can and cannot be measured here, and the remedy for each");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "machine-readable");
  auto validate = std::make_shared<bool>(false);
  auto device = std::make_shared<std::string>();
  CLI::Option* counters = command->add_flag(
      "--validate-counters", *validate,
      "instead: run kernels of known work on the GPU and check its counters with them");
  command
      ->add_option("--device", *device, "cuda:N, for --validate-counters; default: the first GPU")
      ->needs(counters);
  command->callback([=, &context] {
    if (*validate)
      validate_counters(*device, *json, context);
    else
      execute(*json, context);
  });
}

}  // namespace warpmeter
