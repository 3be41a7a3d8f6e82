// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>

#include "cli/context.h"

namespace warpmeter {

// Runs kernels of known work on a GPU ("cuda:N"; "": the first one), counts them with the range
// profiler in this process, and prints what each counter makes of them (counter_validation.h).
// Exit status "not as asked" if a counter is not `ok` or was not measured. Throws InputError, one
// line with the remedy, if there is no GPU, no CUPTI or no permission.
void validate_counters(const std::string& device, bool json, Context& context);

}  // namespace warpmeter
