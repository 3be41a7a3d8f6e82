// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// Points {from, to, link} for every ordered pair of GPUs in this system; one point without "to" if
// there is only one, so that the run says why nothing was measured.
std::vector<Parameters> peer_pairs(const Device& device);

// Why the pair cannot be measured by loads of one GPU from the other's memory, else null.
std::optional<std::string> no_peer_access(const Parameters& parameters);

// The reason of a point without "to", else null.
std::optional<std::string> no_pair(const Parameters& parameters);

// Both ends of a pair. Throws InputError if the system has no such devices.
struct Pair {
  Device from;
  Device to;
};
Pair find_pair(const Parameters& parameters);

// Lets `from` address the memory of `to`. Stays on for the process. Throws CudaError.
void enable_peer_access(const Pair& pair);

// {peer_access, performance_rank, link_source, native_atomics} of the pair.
Json peer_conditions(const Pair& pair);

}  // namespace warpmeter
