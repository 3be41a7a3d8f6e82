// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <vector>

namespace warpmeter {

// next[i] is the successor of i on one random cycle through all of 0..count-1 (Sattolo's
// algorithm): no prefetcher can guess it, and it has no short loops. Deterministic for a seed;
// count >= 1.
std::vector<std::uint32_t> random_cycle(std::uint32_t count, std::uint64_t seed);

// One cycle that visits groups of `group` neighbours in order and is random only inside each group,
// so that translations are used up before the next page is touched.
std::vector<std::uint32_t> grouped_cycle(std::uint32_t count, std::uint32_t group,
                                         std::uint64_t seed);

// Where `hops` steps from `start` end.
std::uint32_t walk(const std::vector<std::uint32_t>& next, std::uint32_t start, std::uint64_t hops);

}  // namespace warpmeter
