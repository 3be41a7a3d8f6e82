// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdio>
#include <cstdlib>

#include "emulator/driver/seam.h"

namespace emulator {

// The runtime's table. libcudart is loaded with this library; another build of it ends the process.
inline const RuntimeTable& runtime() {
  static const RuntimeTable* const table = [] {
    const RuntimeTable* const found = cudaWarpmeterEmulatedRuntime(seam_version);
    if (found == nullptr) {
      std::fputs("warpmeter emulated GPU: libcudart.so.13 is of another build\n", stderr);
      std::abort();
    }
    return found;
  }();
  return *table;
}

}  // namespace emulator
