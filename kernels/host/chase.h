// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpmeter {

// A stretch of a cycle: `hops` lines beginning with `first`.
struct CycleMark {
  const void* first = nullptr;
  std::size_t hops = 0;
};

// Links the lines of a buffer into one random cycle: the first eight bytes of each line hold the
// address of the next one.
//
// Construction. With at most `group_lines` lines the visiting order is one Fisher-Yates shuffle;
// linked as a ring that is a uniformly random single cycle, the distribution of Sattolo's
// algorithm. Beyond, shuffling all lines at once costs a cache miss per line, so the buffer is cut
// into blocks of G adjacent lines, G = ceil(lines / group_lines), and the cycle is G such shuffles
// one after the other: each visits every block once, in a fresh random order, at line (g + x) mod G
// of the block, where x is a random number of the block. So each shuffle spans the whole buffer, no
// line comes twice, and neighbouring lines are visited about group_lines hops apart. One cycle for
// every number of lines.
class CycleBuilder {
 public:
  static constexpr std::size_t group_lines = 65536;

  // `base` points to lines * line_size bytes, aligned to 8; line_size is a multiple of 8, lines at
  // least 1 and at most 2^32.
  CycleBuilder(void* base, std::size_t lines, std::size_t line_size, std::uint64_t seed);

  std::size_t groups() const { return groups_; }
  // Links group `group`; different groups may be linked by different threads.
  void link_group(std::size_t group);
  // Joins the groups to one ring, after all of them are linked. Returns marks in the order of the
  // cycle, at most `mark_hops` apart; the first is where a chase starts.
  std::vector<CycleMark> join();

  static constexpr std::size_t mark_hops = 4096;

 private:
  struct Group {
    std::vector<CycleMark> marks;
    const void** last = nullptr;
  };
  const void** line(std::size_t group, std::size_t block) const;

  std::byte* base_;
  std::size_t lines_;
  std::size_t line_size_;
  std::uint64_t seed_;
  std::size_t groups_;
  std::vector<Group> linked_;
};

// Walks the given stretches, sixteen at a time, and returns the sum of the addresses of the lines
// on the way (modulo 2^64). Over all marks it equals the sum over all lines exactly if the cycle is
// whole. It leaves the caches as a long chase would: the end of the cycle is the most recent. False
// in `closed` if a stretch does not end where the next one begins; `marks[end]` wraps around.
struct CycleWalk {
  std::uint64_t address_sum = 0;
  bool closed = true;
};
CycleWalk walk_cycle(std::span<const CycleMark> marks, std::size_t begin, std::size_t end);

// Follows the chain for 32 * rounds hops; returns where it ends. The timed loop holds dependent
// loads only: each one's result is the next one's address.
inline constexpr std::size_t chase_hops_per_round = 32;
const void* chase(const void* start, std::size_t rounds);

// Follows heads.size() chains (1 to 32) side by side for `hops` hops each and updates the heads.
// Above about 14 chains some heads live on the stack, an L1 hit beside each miss.
inline constexpr std::size_t max_chains = 32;
void chase_chains(std::span<const void*> heads, std::size_t hops);

}  // namespace warpmeter
