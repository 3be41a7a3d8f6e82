// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace driver_test {

using Json = nlohmann::json;
using Environment = std::map<std::string, std::string>;

// What an injected run of the program left behind.
struct Result {
  int status = -1;
  std::string output;          // of the program, stderr too
  std::vector<Json> lines;     // of the client
  std::vector<Json> counters;  // the emulator's own, a line per kernel
  std::size_t processes = 0;   // that the client was injected into

  // Records of a CUpti_ActivityKind.
  std::vector<Json> records(int kind) const;
  // Lines that have `key`.
  std::vector<Json> having(const std::string& key) const;
  // The number behind a name in the program's output.
  std::uint64_t number(const std::string& name) const;
};

enum class Driver { present, absent };

// Runs emulator_driver_program on tiny.json, or `program` if it is given. In values of the
// environment and in arguments "@" is the folder of the run.
Result run(const std::string& arguments, Environment environment = {},
           Driver driver = Driver::present, const std::string& program = "");

}  // namespace driver_test
