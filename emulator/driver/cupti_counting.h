// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "emulator/driver/seam.h"

namespace emulator {

// For PM sampling and the range profiler. The engine's lock is held.
void count_work(const Work& work);

}  // namespace emulator
