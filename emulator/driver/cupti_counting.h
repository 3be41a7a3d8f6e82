// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// PM sampling and the range profiler: what they share.
#pragma once

#include <cupti.h>

#include "emulator/driver/cupti_state.h"

namespace emulator {

// A kernel has ended; the engine's lock is held.
void count_in_samples(const Work& work);
void count_in_ranges(const Work& work);
// A call has ended: with automatic ranges kernels run one at a time.
void serialize(const ApiSite& site);

// cuptiProfilerInitialize has been called, and not its opposite.
bool profiler_initialized();
// A profiler has been enabled (1) or disabled (-1): there is something to count, or not.
void change_sessions(int by);

}  // namespace emulator
