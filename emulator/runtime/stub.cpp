// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/runtime/stub.h"

#include <driver_types.h>

#include <mutex>
#include <set>
#include <string>

#include "emulator/runtime/call.h"

namespace emulator {

int not_supported(const char* name) {
  static std::mutex mutex;
  static auto* named = new std::set<std::string>();
  const std::lock_guard lock(mutex);
  if (named->insert(name).second) explain(std::string(name) + " is not supported");
  return report(cudaErrorNotSupported, Reports::yes);
}

}  // namespace emulator
