// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A warpmeter that was built without CUDA or without CUPTI's headers.
#include "cli/validate_counters.h"
#include "core/error.h"

namespace warpmeter {

void validate_counters(const std::string&, bool, Context&) {
  throw InputError(
      "this warpmeter was built without CUDA or CUPTI's headers; run scripts/setup without "
      "--no-cuda and build again");
}

}  // namespace warpmeter
