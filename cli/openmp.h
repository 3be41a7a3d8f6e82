// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

namespace warpmeter {

// GCC's OpenMP runtime reads its settings before main(): threads must be bound to cores and must
// spin between parallel regions, as in a serving process, or small kernels measure the scheduler.
// If the settings are not in the environment, this puts them there and starts the program again; it
// returns otherwise.
void settle_openmp(char** argv);

}  // namespace warpmeter
