// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "core/shared_library.h"

namespace warpmeter {

// Where libcupti.so.13 may be, in the order in which it is tried: what WARPMETER_CUPTI names (then
// nothing else), the loader's path (a copy that is already in the process comes first there),
// CUDA_HOME and CUDA_PATH, the toolkit or wheel that warpmeter was built with, /usr/local/cuda, and
// the active Python environment.
std::vector<std::string> cupti_places();

// Opens the first that is there; `path` is its name as tried. Throws InputError with the remedy and
// the places if there is none.
SharedLibrary open_cupti(std::string& path);

}  // namespace warpmeter
