// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/driver/cupti_counting.h"

namespace emulator {

void count_work(const Work&) {}

}  // namespace emulator
