// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// The rows whose id equals one of `ids` or begins with it and a dot; all rows if `ids` is empty.
// Throws InputError that offers the nearest names for an id that selects nothing.
std::vector<Benchmark> select(std::span<const Benchmark> table, std::span<const std::string> ids);

}  // namespace warpmeter
