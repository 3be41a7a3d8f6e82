// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/driver/run.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace driver_test {
namespace {

namespace fs = std::filesystem;

void replace_at(std::string& text, const std::string& folder) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) {
    text.replace(at, 1, folder);
  }
}

std::vector<Json> lines_of(const fs::path& file) {
  std::vector<Json> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

std::vector<Json> Result::records(int kind) const {
  std::vector<Json> found;
  for (const Json& line : lines) {
    if (line.value("kind", 0) == kind) found.push_back(line);
  }
  return found;
}

std::vector<Json> Result::having(const std::string& key) const {
  std::vector<Json> found;
  for (const Json& line : lines) {
    if (line.contains(key)) found.push_back(line);
  }
  return found;
}

std::uint64_t Result::number(const std::string& name) const {
  std::istringstream words(output);
  for (std::string word; words >> word;) {
    std::uint64_t value = 0;
    if (word == name && words >> value) return value;
  }
  return 0;
}

Result run(const std::string& arguments, Environment environment, Driver driver,
           const std::string& program) {
  std::string folder = fs::temp_directory_path() / "emulator_driver_XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return {};
  const std::string libraries = EMULATOR_LIBRARIES;
  environment["LD_LIBRARY_PATH"] =
      (driver == Driver::present ? libraries + "/driver:" : "") + libraries;
  environment["WARPMETER_EMULATED_CHIP_FILE"] = EMULATOR_CHIPS "/tiny.json";
  environment["WARPMETER_EMULATED_COUNTERS"] = "@/counters";
  environment["CUDA_INJECTION64_PATH"] = DRIVER_CLIENT;
  environment["CLIENT_OUTPUT"] = "@/client";
  std::string command = "env";
  for (const auto& [name, value] : environment) command += " " + name + "='" + value + "'";
  command += " " + (program.empty() ? std::string(DRIVER_PROGRAM) : program) + " " + arguments +
             " >@/output 2>&1";
  replace_at(command, folder);
  Result result;
  result.status = std::system(command.c_str());
  result.output = text_of(folder + "/output");
  result.counters = lines_of(folder + "/counters");
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("client.")) continue;
    ++result.processes;
    const auto more = lines_of(entry.path());
    result.lines.insert(result.lines.end(), more.begin(), more.end());
  }
  fs::remove_all(folder);
  return result;
}

}  // namespace driver_test
