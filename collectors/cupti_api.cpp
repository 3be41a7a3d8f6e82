// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/cupti_api.h"

#include <fmt/format.h>

#include "collectors/cupti_error.h"
#include "collectors/cupti_params.h"
#include "core/error.h"

namespace warpmeter {

CuptiApi bind_cupti(const SharedLibrary& library, const std::string& path) {
  CuptiApi api;
#define WARPMETER_CUPTI_BIND(name) library.bind(#name, api.name);
  WARPMETER_CUPTI_FUNCTIONS(WARPMETER_CUPTI_BIND)
#undef WARPMETER_CUPTI_BIND
  if (const char* missing = library.missing())
    throw InputError(
        fmt::format("{} has no {}; use the CUPTI of CUDA 13.0 or newer", path, missing));
  return api;
}

std::string chip_name(const CuptiApi& api, std::size_t ordinal) {
  auto params = sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  params.deviceIndex = ordinal;
  const bool told = api.cuptiDeviceGetChipName(&params) == CUPTI_SUCCESS;
  return told && params.pChipName != nullptr ? params.pChipName : "";
}

void check_cupti(CUptiResult result, const char* collector, const char* call) {
  if (result != CUPTI_SUCCESS)
    throw InputError(fmt::format("{}: {}: {}", collector, call, describe_cupti_error(result)));
}

}  // namespace warpmeter
