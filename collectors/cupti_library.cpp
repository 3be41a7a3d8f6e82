// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/cupti_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"

namespace warpmeter {
namespace {

constexpr const char* file = "libcupti.so.13";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void add_toolkit(const std::string& root, std::vector<std::string>& places) {
  if (root.empty()) return;
  for (const char* folder : {"lib64", "extras/CUPTI/lib64"})
    places.push_back(fmt::format("{}/{}/{}", root, folder, file));
}

void add_python_environment(const std::string& root, std::vector<std::string>& places) {
  if (root.empty()) return;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/lib", ignored)) {
    if (entry.path().filename().string().rfind("python3", 0) == 0)
      places.push_back((entry.path() / "site-packages/nvidia/cu13/lib" / file).string());
  }
}

}  // namespace

std::vector<std::string> cupti_places() {
  if (const std::string named = variable("WARPMETER_CUPTI"); !named.empty()) return {named};
  std::vector<std::string> places = {file};
  add_toolkit(variable("CUDA_HOME"), places);
  add_toolkit(variable("CUDA_PATH"), places);
  if (const std::string built_with = WARPMETER_CUPTI_LIBRARY; !built_with.empty())
    places.push_back(built_with);
  add_toolkit("/usr/local/cuda", places);
  add_python_environment(variable("VIRTUAL_ENV"), places);
  std::vector<std::string> once;
  for (const std::string& place : places)
    if (std::find(once.begin(), once.end(), place) == once.end()) once.push_back(place);
  return once;
}

SharedLibrary open_cupti(std::string& path) {
  const std::vector<std::string> places = cupti_places();
  for (const std::string& place : places) {
    std::string why;
    const SharedLibrary library = SharedLibrary::open(place.c_str(), why);
    if (library) {
      path = place;
      return library;
    }
  }
  throw InputError(fmt::format(
      "no CUPTI of CUDA 13: install the toolkit or the PyPI package nvidia-cuda-cupti==13.0.*, and "
      "set WARPMETER_CUPTI to its libcupti.so.13; looked for {}",
      fmt::join(places, ", ")));
}

}  // namespace warpmeter
