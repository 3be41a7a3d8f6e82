// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The version, the chip, and the ids of handles.
#include <cupti_target.h>

#include <algorithm>
#include <cctype>

#include "emulator/driver/cupti_chip.h"
#include "emulator/driver/cupti_state.h"

namespace emulator {

const char* chip_name() {
  static const auto* const planted = new std::string(faults().text("chip"));
  return planted->empty() ? true_chip_name() : planted->c_str();
}

const char* true_chip_name() {
  static const auto* const name = [] {
    auto* text = new std::string(std::string("EMULATED_") + runtime().chip().name);
    std::transform(text->begin(), text->end(), text->begin(),
                   [](unsigned char c) { return std::isalnum(c) ? std::toupper(c) : '_'; });
    return text;
  }();
  return name->c_str();
}

}  // namespace emulator

using emulator::runtime;

namespace {

template <typename Id>
CUptiResult give(Id found, Id* id, CUptiResult otherwise) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = found;
  return found == 0 ? otherwise : CUPTI_SUCCESS;
}

// Null means the current one.
const emulator::Context* context_behind(CUcontext handle) {
  return handle == nullptr ? runtime().current() : emulator::context_of(handle);
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = static_cast<std::uint32_t>(emulator::faults().number("version", 130001));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  EMULATOR_CUPTI_READY();
  if (params == nullptr || params->structSize < CUpti_Device_GetChipName_Params_STRUCT_SIZE ||
      params->deviceIndex >= static_cast<std::size_t>(runtime().chip().devices)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  params->pChipName = emulator::chip_name();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext handle, std::uint32_t* id) {
  EMULATOR_CUPTI_READY();
  if (handle == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  return give(emulator::context_of(handle)->id, id, CUPTI_ERROR_INVALID_CONTEXT);
}
CUptiResult cuptiGetDeviceId(CUcontext handle, std::uint32_t* id) {
  EMULATOR_CUPTI_READY();
  const emulator::Context* const context = context_behind(handle);
  if (context == nullptr) return CUPTI_ERROR_INVALID_DEVICE;
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = static_cast<std::uint32_t>(context->device);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetStreamIdEx(CUcontext handle, CUstream stream, std::uint8_t per_thread,
                               std::uint32_t* id) {
  EMULATOR_CUPTI_READY();
  const emulator::Context* const context = context_behind(handle);
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  return give(runtime().stream_id(stream, per_thread != 0, context->device), id,
              CUPTI_ERROR_INVALID_STREAM);
}
CUptiResult cuptiGetStreamId(CUcontext handle, CUstream stream, std::uint32_t* id) {
  return cuptiGetStreamIdEx(handle, stream, 0, id);
}
CUptiResult cuptiGetGraphId(CUgraph graph, std::uint32_t* id) {
  EMULATOR_CUPTI_READY();
  return give(runtime().graph_id(graph), id, CUPTI_ERROR_INVALID_PARAMETER);
}
CUptiResult cuptiGetGraphExecId(CUgraphExec exec, std::uint32_t* id) {
  EMULATOR_CUPTI_READY();
  return give(runtime().exec_id(exec), id, CUPTI_ERROR_INVALID_PARAMETER);
}
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  EMULATOR_CUPTI_READY();
  return give(runtime().node_id(node), id, CUPTI_ERROR_INVALID_PARAMETER);
}

}  // extern "C"
