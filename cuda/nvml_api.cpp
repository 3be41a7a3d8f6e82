// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/nvml_api.h"

#include <fmt/format.h>

#include <limits>

#include "core/shared_library.h"

namespace warpmeter {
namespace {

struct Library {
  NvmlApi api;
  std::string why;  // empty if it works

  Library() {
    const SharedLibrary library = SharedLibrary::open("libnvidia-ml.so.1", why);
    if (!library) {
      why = "no NVML: " + why;
      return;
    }
#define WARPMETER_NVML_BIND(member, symbol, arguments) library.bind(symbol, api.member);
    WARPMETER_NVML_FUNCTIONS(WARPMETER_NVML_BIND)
#undef WARPMETER_NVML_BIND
    if (api.init == nullptr || api.handle_by_pci == nullptr) {
      why = "libnvidia-ml.so.1 lacks nvmlInit_v2";
    } else if (const int status = api.init(); status != nvml_success) {
      why = fmt::format("nvmlInit_v2: {}", nvml_error_name(status));
    }
  }
};

}  // namespace

const NvmlApi* open_nvml(std::string& why) {
  static const Library library;
  why = library.why;
  return why.empty() ? &library.api : nullptr;
}

std::string nvml_error_name(int status) {
  static constexpr std::pair<int, const char*> names[] = {
      {1, "UNINITIALIZED"},
      {nvml_invalid_argument, "INVALID_ARGUMENT"},
      {3, "NOT_SUPPORTED"},
      {nvml_no_permission, "NO_PERMISSION"},
      {6, "NOT_FOUND"},
      {9, "DRIVER_NOT_LOADED"},
      {10, "TIMEOUT"},
      {12, "LIBRARY_NOT_FOUND"},
      {13, "FUNCTION_NOT_FOUND"},
      {nvml_gpu_is_lost, "GPU_IS_LOST"},
      {16, "RESET_REQUIRED"},
      {17, "OPERATING_SYSTEM"},
      {18, "LIB_RM_VERSION_MISMATCH"},
      {21, "NO_DATA"},
      {25, "ARGUMENT_VERSION_MISMATCH"},
      {26, "DEPRECATED"},
      {27, "NOT_READY"},
      {28, "GPU_NOT_FOUND"},
      {999, "UNKNOWN"},
  };
  for (const auto& [code, name] : names)
    if (code == status) return fmt::format("NVML_ERROR_{} ({})", name, code);
  return fmt::format("NVML error {}", status);
}

double nvml_number(const NvmlField& field) {
  switch (field.type) {
    case 0:
      return field.value.real;
    case 1:
      return field.value.small;
    case 2:
      return static_cast<double>(field.value.natural);
    case 3:
      return static_cast<double>(field.value.large);
    case 4:
      return static_cast<double>(field.value.large_integer);
    case 5:
      return field.value.integer;
    case 6:
      return field.value.tiny;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace warpmeter
