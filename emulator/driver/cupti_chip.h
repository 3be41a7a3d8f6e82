// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

namespace emulator {

// "EMULATED_TINY", or what is planted.
const char* chip_name();
const char* true_chip_name();

}  // namespace emulator
