// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>

namespace emulator {

// The PTX in a fat binary that suits compute capability `major`.`minor` best: the architecture-
// specific one of exactly that, else the highest generic one not above it. `wrapper` may point to
// the wrapper that the compiler registers or to the fat binary itself. Throws Fault if there is
// none, saying which compiler flag to change.
std::string read_ptx(const void* wrapper, int major, int minor);

}  // namespace emulator
