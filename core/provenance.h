// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json.h"

namespace warpmeter {

// {name, version, git, dirty, argv, utc_time, compiler}: the `tool` block of every document.
Json tool_provenance(std::span<const std::string> argv);

// {hostname, kernel, governor, cores_allowed, load_average, other_tenants: [{command,
// cpu_seconds_per_second}],
//  memory_available, transparent_huge_pages}: the `host` block. Looks at the other processes for
//  `window_s` seconds.
Json host_provenance(double window_s = 0.2);

// "2026-12-01T03:31:00Z"
std::string utc_time();

}  // namespace warpmeter
