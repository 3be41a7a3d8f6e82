// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The activity API.
#include <algorithm>
#include <cstring>

#include "emulator/driver/cupti_buffers.h"
#include "emulator/driver/cupti_records.h"

using emulator::buffers;
using emulator::faults;
using emulator::runtime;
using emulator::state;

namespace {

bool known(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_OVERHEAD || emulator::record_bytes(kind) != 0;
}

void set_kind(CUpti_ActivityKind kind, bool enable) {
  const std::lock_guard lock(state().mutex);
  state().kinds.set(static_cast<std::size_t>(kind), enable);
  // The kind overrides what was set of single functions.
  auto* const functions = kind == CUPTI_ACTIVITY_KIND_RUNTIME  ? &state().runtime_records
                          : kind == CUPTI_ACTIVITY_KIND_DRIVER ? &state().driver_records
                                                               : nullptr;
  if (functions != nullptr) enable ? functions->set() : functions->reset();
  emulator::refresh_listener();
}

CUptiResult set_function(emulator::CallbackSet& functions, CUpti_CallbackId cbid, bool enable) {
  EMULATOR_CUPTI_READY();
  if (faults().number("activity") != 0) return faults().error("activity");
  if (cbid == 0 || cbid >= emulator::callback_ids) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(state().mutex);
  functions.set(cbid, enable);
  emulator::refresh_listener();
  return CUPTI_SUCCESS;
}

// Of attributes the client may ask again; nothing here depends on them.
std::map<CUpti_ActivityAttribute, std::string>& attributes() {
  static auto* const set = new std::map<CUpti_ActivityAttribute, std::string>();
  return *set;
}

bool is_attribute(CUpti_ActivityAttribute attribute) {
  return attribute >= 0 && attribute <= CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS;
}

}  // namespace

extern "C" {

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  EMULATOR_CUPTI_READY();
  if (faults().number("init") != 0) return faults().error("init");
  if (faults().number("activity") != 0) return faults().error("activity");
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  if (!known(kind)) return CUPTI_ERROR_NOT_COMPATIBLE;
  set_kind(kind, true);
  for (int device = 0; device < runtime().chip().devices; ++device) {
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE) emulator::record_device(device);
    const emulator::Context* const context = runtime().context(device, false);
    if (kind == CUPTI_ACTIVITY_KIND_CONTEXT && context != nullptr) {
      emulator::record_context(*context);
    }
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  EMULATOR_CUPTI_READY();
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  set_kind(kind, false);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  return set_function(state().runtime_records, cbid, enable != 0);
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  return set_function(state().driver_records, cbid, enable != 0);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  EMULATOR_CUPTI_READY();
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (faults().number("init") != 0) return faults().error("init");
  buffers().set_callbacks(request, complete);
  return CUPTI_SUCCESS;
}
// Records are staged only when their work has ended: a forced flush finds no more than another. A
// GPU would have gone on until now, so the emulated one does.
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  EMULATOR_CUPTI_READY();
  if (!buffers().has_callbacks()) return CUPTI_ERROR_INVALID_OPERATION;
  for (int device = 0; device < runtime().chip().devices; ++device) runtime().settle(device);
  buffers().flush();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlush(CUcontext, std::uint32_t, std::uint32_t flag) {
  return cuptiActivityFlushAll(flag);
}
CUptiResult cuptiActivityFlushPeriod(std::uint32_t time) {
  EMULATOR_CUPTI_READY();
  buffers().set_period_ms(time);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = buffers().take_dropped();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<std::uint8_t*>(*record) + emulator::record_bytes((*record)->kind);
  }
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* const found = reinterpret_cast<CUpti_Activity*>(next);
  if (emulator::record_bytes(found->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = found;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, std::size_t* size,
                                      void* value) {
  EMULATOR_CUPTI_READY();
  if (size == nullptr || value == nullptr || !is_attribute(attribute)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const std::lock_guard lock(state().mutex);
  attributes()[attribute].assign(static_cast<const char*>(value), *size);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, std::size_t* size,
                                      void* value) {
  EMULATOR_CUPTI_READY();
  if (size == nullptr || value == nullptr || !is_attribute(attribute)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const std::lock_guard lock(state().mutex);
  const std::string& set = attributes()[attribute];
  if (*size < set.size()) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  *size = set.size();
  std::memcpy(value, set.data(), set.size());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  EMULATOR_CUPTI_READY();
  if (function == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  // The callback's reading of the clock may take virtual time, and gives the time after it.
  const std::uint64_t theirs = runtime().in_virtual_time(function);
  state().clock_offset_ns = static_cast<std::int64_t>(theirs - runtime().now_ns(false));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  EMULATOR_CUPTI_READY();
  if (time == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *time = emulator::client_ns(runtime().now_ns(true));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  const std::lock_guard lock(state().mutex);
  state().system_thread_ids = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(state().mutex);
  *type = state().system_thread_ids ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                    : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}

}  // extern "C"
