// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Ids of the client that calls are marked with.
#include "emulator/driver/cupti_external.h"

#include <cstring>
#include <map>
#include <vector>

#include "emulator/driver/cupti_buffers.h"
#include "emulator/driver/cupti_state.h"

namespace emulator {
namespace {

using Stacks = std::map<CUpti_ExternalCorrelationKind, std::vector<std::uint64_t>>;
Stacks& stacks() {
  thread_local Stacks of_thread;
  return of_thread;
}

}  // namespace

void record_external(std::uint32_t correlation) {
  for (const auto& [kind, ids] : stacks()) {
    if (ids.empty()) continue;
    CUpti_ActivityExternalCorrelation record;
    std::memset(&record, 0, sizeof record);
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = kind;
    record.externalId = ids.back();
    record.correlationId = correlation;
    buffers().stage(record);
  }
}

}  // namespace emulator

extern "C" {

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   std::uint64_t id) {
  if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
      kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  emulator::stacks()[kind].push_back(id);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  std::uint64_t* last) {
  auto& ids = emulator::stacks()[kind];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}

}  // extern "C"
