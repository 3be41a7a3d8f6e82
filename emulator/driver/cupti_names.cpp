// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Names of results and callbacks.
#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "emulator/driver/cupti_state.h"

namespace emulator {
namespace {

struct Row {
  const char* name;
  std::uint32_t number;
};
#define EMULATOR_RESULT(name, number)
#define EMULATOR_RUNTIME(name, number) {#name, number},
#define EMULATOR_DRIVER(name, number)
constexpr Row runtime_rows[] = {
#include "emulator/cupti_names.inc"
};
#undef EMULATOR_RUNTIME
#undef EMULATOR_DRIVER
#define EMULATOR_RUNTIME(name, number)
#define EMULATOR_DRIVER(name, number) {#name, number},
constexpr Row driver_rows[] = {
#include "emulator/cupti_names.inc"
};
#undef EMULATOR_RESULT
#undef EMULATOR_DRIVER
#define EMULATOR_RESULT(name, number) {#name, number},
#define EMULATOR_DRIVER(name, number)
constexpr Row result_rows[] = {
#include "emulator/cupti_names.inc"
};
#undef EMULATOR_RESULT
#undef EMULATOR_RUNTIME
#undef EMULATOR_DRIVER

template <typename Rows>
const char* row_name(const Rows& rows, std::uint32_t number) {
  for (const Row& row : rows) {
    if (row.number == number) return row.name;
  }
  return nullptr;
}

}  // namespace

// Of several versions of a function the newest: that is what a program built with this toolkit
// calls.
std::uint32_t runtime_cbid(std::string_view function) {
  static const auto* const numbers = [] {
    auto* map = new std::unordered_map<std::string_view, std::pair<int, std::uint32_t>>();
    for (const Row& row : runtime_rows) {
      const std::string_view name = row.name;
      const std::size_t at = name.rfind("_v");
      if (at == std::string_view::npos) continue;
      const int version = std::atoi(row.name + at + 2);
      auto& known = (*map)[name.substr(0, at)];
      known = std::max(known, std::pair(version, row.number));
    }
    return map;
  }();
  const auto found = numbers->find(function);
  return found == numbers->end() ? 0 : found->second.second;
}

const char* callback_name(CUpti_CallbackDomain domain, std::uint32_t cbid) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) return row_name(runtime_rows, cbid);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return row_name(driver_rows, cbid);
  return nullptr;
}

}  // namespace emulator

extern "C" {

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const char* const name = emulator::row_name(emulator::result_rows, result);
  *text = name == nullptr ? "<unknown>" : name;
  return name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}
CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
  cuptiGetResultString(result, text);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t cbid,
                                 const char** name) {
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = emulator::callback_name(domain, cbid);
  return *name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

}  // extern "C"
