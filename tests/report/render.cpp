// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors

// Renders documents to a page without the command line: page_test.py plants the documents.
// report_render OUT.html NAME=FILE...  with NAME run (repeatable), machine, validation, findings.

#include <cstdio>
#include <exception>
#include <string>

#include "core/error.h"
#include "report/report.h"

namespace {

void add(warpmeter::ReportInput& input, const std::string& argument) {
  const auto equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const std::string file = argument.substr(equals + 1);
  if (name == "run") {
    input.runs.push_back(warpmeter::load_run(file));
  } else if (name == "machine") {
    input.machine = warpmeter::load_machine(file);
  } else if (name == "validation") {
    input.validation = warpmeter::read_json(file);
  } else if (name == "findings") {
    input.findings = warpmeter::read_json(file);
  } else {
    throw warpmeter::InputError("unknown document " + name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    warpmeter::ReportInput input;
    for (int i = 2; i < argc; ++i) add(input, argv[i]);
    warpmeter::write_atomically(argv[1], warpmeter::render_report(input));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "report_render: %s\n", error.what());
    return 1;
  }
  return 0;
}
