// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "emulator/runtime/api.h"

namespace emulator {

// Says once per name, on stderr, that the function is missing; the last error becomes
// cudaErrorNotSupported, which is returned.
int not_supported(const char* name);

}  // namespace emulator

// A function that is defined elsewhere too is that one.
#define EMULATOR_STUB(name) \
  EMULATOR_API __attribute__((weak)) int name() { return emulator::not_supported(#name); }
