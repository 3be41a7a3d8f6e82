// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace warpmeter {

using Bytes = std::span<const std::byte>;

inline constexpr std::size_t cache_line = 64;  // B, of every x86-64 processor

// Calls `visit(line)` once for each cache line that holds a byte of `range`, by rising address,
// for every `parts`-th line from number `part` on.
template <class Visit>
void for_each_line(Bytes range, std::size_t part, std::size_t parts, Visit visit) {
  if (range.empty()) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(range.data());
  const std::uintptr_t end = begin + range.size();
  const std::uintptr_t first = begin / cache_line * cache_line;
  for (std::uintptr_t at = first + part * cache_line; at < end; at += parts * cache_line)
    visit(reinterpret_cast<const void*>(at));
}

// Evicts every line of the ranges from all caches of the machine (CLFLUSHOPT, dirty lines are
// written back first), shared among the threads of the OpenMP team. On return the lines are in
// memory only, and the team is awake.
void flush_lines(std::span<const Bytes> ranges);

}  // namespace warpmeter
