// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

namespace warpmeter {

// One processor number (as the system counts) per core that this process may use, in the order of
// hwloc, so that neighbours share caches; read once, when first asked. Never empty.
const std::vector<int>& allowed_cores();

// The first `count` of allowed_cores(). Throws UnsupportedError if there are fewer.
std::vector<int> first_cores(int count);

// At most eight of allowed_cores() that share a memory node with the first: they fill its memory.
std::vector<int> cores_near_first();

// Binds the calling thread to one processor. Throws UnsupportedError if the system refuses.
void bind_thread(int cpu);

// The processor that the calling thread runs on now.
int current_cpu();

}  // namespace warpmeter
