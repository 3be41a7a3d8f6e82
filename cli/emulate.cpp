// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cli/emulate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/shared_library.h"

namespace warpmeter {
namespace {

namespace fs = std::filesystem;

constexpr const char* chip_variable = "WARPMETER_EMULATED_CHIP_FILE";
constexpr const char* library_variable = "LD_LIBRARY_PATH";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The value of --emulate among the options that precede the command.
std::optional<std::string> asked_chip(int argc, char** argv) {
  constexpr std::string_view option = "--emulate";
  for (int i = 1; i < argc && argv[i][0] == '-'; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--emulate=")) return std::string(argument.substr(option.size() + 1));
    if (argument != option) continue;
    if (i + 1 == argc) throw InputError("--emulate needs a chip: a name or a chip file");
    return argv[i + 1];
  }
  return std::nullopt;
}

std::string names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

fs::path chip_file(const std::string& chip, const fs::path& library) {
  const fs::path known = library / "chips" / (chip + ".json");
  if (fs::is_regular_file(known)) return known;
  if (fs::is_regular_file(chip)) return fs::absolute(chip);
  throw InputError(fmt::format("--emulate {}: neither a chip file nor one of: {}", chip,
                               names_in(library / "chips")));
}

}  // namespace

bool emulation_asked_for() { return !environment(chip_variable).empty(); }

fs::path emulated_driver_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "emulator" / "driver";
}

void load_emulated_driver() {
  const fs::path folder = emulated_driver_folder();
  // The loader then gives this copy to whoever asks for libcuda.so.1.
  std::string why;
  if (!SharedLibrary::open((folder / "libcuda.so.1").c_str(), why))
    throw InputError(
        fmt::format("--emulate: {}; build it: scripts/build release emulated_driver", why));
  setenv("WARPMETER_CUPTI", (folder / "libcupti.so.13").c_str(), 1);
}

void start_emulated(int argc, char** argv) {
  const auto chip = asked_chip(argc, argv);
  if (!chip) return;
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const fs::path library = self.parent_path() / "emulator";
  if (!fs::exists(library / "libcudart.so.13")) {
    throw InputError(
        fmt::format("--emulate: {} is missing; build it: scripts/build release emulated_cudart",
                    (library / "libcudart.so.13").string()));
  }
  const std::string file = chip_file(*chip, library).string();
  const std::string path = environment(library_variable);
  const bool started = path == library.string() || path.starts_with(library.string() + ":");
  if (started && environment(chip_variable) == file) return;
  setenv(chip_variable, file.c_str(), 1);
  setenv(library_variable, (library.string() + (path.empty() ? "" : ":" + path)).c_str(), 1);
  execv(self.c_str(), argv);
  throw InputError(fmt::format("--emulate: cannot start {}: {}", self.string(), strerror(errno)));
}

}  // namespace warpmeter
