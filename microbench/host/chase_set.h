// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/host/chase.h"
#include "microbench/host/pages.h"
#include "microbench/host/team.h"

namespace warpmeter {

// Fresh memory with one random cycle through all of its lines, verified, and the caches left as if
// a chase had just come round: every line was read once in the order of the cycle.
class ChaseSet {
 public:
  // `owner` is the thread that will chase (its rank 0). A set that no private cache could hold is
  // built by all cores near it, to save time. Throws UnsupportedError if the pages cannot be had
  // and std::runtime_error ("corrupt: ...") if the cycle is not whole.
  ChaseSet(double footprint, double line, PageKind page, std::uint64_t seed, Team& owner);

  std::size_t lines() const { return lines_; }
  const std::vector<CycleMark>& marks() const { return marks_; }
  std::size_t bytes_in_huge_pages() const { return pages_.bytes_in_huge_pages(); }

  // Throws ("corrupt: ...") unless `chains` chains side by side, evenly spaced along the cycle, get
  // where the marks say; returns where they are then. For one chain `chase` itself is checked. At
  // most as many chains as there are marks: they must not run into each other.
  std::vector<const void*> checked_heads(std::size_t chains) const;

 private:
  void build(Team& builders, double line, std::uint64_t seed);
  void verify(Team& builders, double line) const;

  Pages pages_;
  std::size_t lines_;
  std::vector<CycleMark> marks_;
};

}  // namespace warpmeter
