// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"

namespace warpmeter {

// Merges profiles into one new file: devices are joined by UUID, strings and shapes by content, ids
// are moved, and each process's times get its clock offset, so that all times are CLOCK_MONOTONIC
// of their host. Losses are kept. A process without a known offset keeps its times, and a loss says
// so. Memory is bounded (SQLite does the work). Returns rows by table.
//
// Throws InputError: no input, a file that ProfileReader refuses, the same shard twice, measured
// and other sources mixed, processes of two boots (their clocks have nothing in common), a row that
// refers to a string or device that is not there, or an output that is there.
std::map<std::string, std::int64_t, std::less<>> merge_profiles(
    const std::vector<std::filesystem::path>& shards, const std::filesystem::path& out,
    const Json& tool);

}  // namespace warpmeter
