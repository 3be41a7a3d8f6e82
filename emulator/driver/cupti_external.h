// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

namespace emulator {

// Stages a record for the innermost external id of each kind on this thread.
void record_external(std::uint32_t correlation);

}  // namespace emulator
