// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A stand-in for CUPTI's activity functions: delivers records as CUPTI does, in the thread of the
// caller.
#pragma once

#include <cstring>
#include <map>
#include <utility>

#include "collectors/cupti_api.h"

namespace warpmeter {

// One process-wide stand-in, as CUPTI is.
struct Stand {
  CUpti_BuffersCallbackRequestFunc requested = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed = nullptr;
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  std::size_t dropped = 0;
  CUptiResult subscribe = CUPTI_SUCCESS, enable_kernels = CUPTI_SUCCESS;
  const char* holder = "";
  std::map<int, bool> enabled;
  std::map<std::pair<bool, CUpti_CallbackId>, bool> calls;
  int flushes = 0;
};
inline Stand stand;

// Records lie one behind the other; each has its size in a table by kind.
inline std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(CUpti_ActivityOverhead3);
    default:
      return sizeof(CUpti_ActivityAPI);
  }
}

inline CUptiResult next_record(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::uint8_t* at = buffer;
  if (*record != nullptr) {
    at = reinterpret_cast<std::uint8_t*>(*record) + size_of((*record)->kind);
  }
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

inline CuptiApi activity_stand_in() {
  stand = {};
  CuptiApi api;
  api.cuptiSubscribe_v2 = [](CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                             void* user, CUpti_SubscriberParams* params) {
    *handle = nullptr;
    stand.callback = callback;
    stand.user = user;
    std::strncpy(params->oldSubscriberName, stand.holder, params->oldSubscriberSize);
    return stand.subscribe;
  };
  api.cuptiEnableCallback = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                               CUpti_CallbackId) { return CUPTI_SUCCESS; };
  api.cuptiActivityRegisterCallbacks = [](CUpti_BuffersCallbackRequestFunc requested,
                                          CUpti_BuffersCallbackCompleteFunc completed) {
    stand.requested = requested;
    stand.completed = completed;
    return CUPTI_SUCCESS;
  };
  api.cuptiActivityRegisterTimestampCallback = [](CUpti_TimestampCallbackFunc) {
    return CUPTI_SUCCESS;
  };
  api.cuptiSetThreadIdType = [](CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; };
  api.cuptiActivityEnable = [](CUpti_ActivityKind kind) {
    stand.enabled[kind] = true;
    return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? stand.enable_kernels : CUPTI_SUCCESS;
  };
  api.cuptiActivityDisable = [](CUpti_ActivityKind kind) {
    stand.enabled[kind] = false;
    return CUPTI_SUCCESS;
  };
  api.cuptiActivityEnableRuntimeApi = [](CUpti_CallbackId id, std::uint8_t on) {
    stand.calls[{false, id}] = on != 0;
    return CUPTI_SUCCESS;
  };
  api.cuptiActivityEnableDriverApi = [](CUpti_CallbackId id, std::uint8_t on) {
    stand.calls[{true, id}] = on != 0;
    return CUPTI_SUCCESS;
  };
  api.cuptiActivityFlushAll = [](std::uint32_t) {
    ++stand.flushes;
    return CUPTI_SUCCESS;
  };
  api.cuptiActivityGetNumDroppedRecords = [](CUcontext, std::uint32_t, std::size_t* dropped) {
    *dropped = std::exchange(stand.dropped, 0);
    return CUPTI_SUCCESS;
  };
  api.cuptiActivityGetNextRecord = next_record;
  api.cuptiGetGraphNodeId = [](CUgraphNode node, std::uint64_t* id) {
    *id = reinterpret_cast<std::uint64_t>(node);
    return CUPTI_SUCCESS;
  };
  return api;
}

// As CUPTI does: asks for a buffer, fills it, hands it over. False: there was none.
template <typename... Records>
bool deliver(const Records&... records) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, limit = 0;
  stand.requested(&buffer, &size, &limit);
  if (buffer == nullptr) return false;
  std::size_t used = 0;
  const auto put = [&](const auto& record) {
    std::memcpy(buffer + used, &record, sizeof record);
    used += sizeof record;
  };
  (put(records), ...);
  stand.completed(nullptr, 0, buffer, size, used);
  return true;
}

}  // namespace warpmeter
