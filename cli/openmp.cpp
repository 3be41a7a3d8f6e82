// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cli/openmp.h"

#include <unistd.h>

#include <cstdlib>

namespace warpmeter {

void settle_openmp(char** argv) {
  if (std::getenv("WARPMETER_OPENMP_SETTLED") != nullptr) return;
  ::setenv("WARPMETER_OPENMP_SETTLED", "1", 1);
  ::setenv("OMP_PROC_BIND", "close", 0);
  ::setenv("OMP_PLACES", "cores", 0);
  ::setenv("OMP_WAIT_POLICY", "active", 0);
  ::setenv("OMP_DYNAMIC", "false", 0);
  ::execv("/proc/self/exe", argv);
  // Without /proc the program goes on with the settings that it has.
}

}  // namespace warpmeter
