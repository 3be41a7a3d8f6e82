// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace emulator {

// Tags of a sectored, set-associative cache with least-recently-used replacement. It holds no data,
// only when each sector arrives.
class Cache {
 public:
  Cache() = default;
  // The ways are what is asked or as many as there are lines; lines left over make no set.
  Cache(std::int64_t bytes, std::int64_t line, std::int64_t sector, std::int64_t ways);

  struct Result {
    bool hit = false;
    std::uint64_t ready = 0;        // of a hit: when its data is there
    int evicted_dirty_sectors = 0;  // of an allocation
  };
  // Looks `address` up and makes it the most recent.
  Result find(std::uint64_t address);
  // Puts the sector in, with its data there at `ready`.
  Result fill(std::uint64_t address, std::uint64_t ready, bool dirty);
  void clear();
  std::int64_t lines() const { return static_cast<std::int64_t>(lines_.size()); }

 private:
  struct Line {
    std::uint64_t tag = ~std::uint64_t{0};
    std::uint64_t used = 0;
    std::uint8_t valid = 0;
    std::uint8_t dirty = 0;
    std::array<std::uint64_t, 8> ready{};
  };
  Line* set_of(std::uint64_t line_number);
  Line* match(std::uint64_t line_number);

  std::uint64_t line_bytes_ = 1;
  std::uint64_t sector_bytes_ = 1;
  std::uint64_t sets_ = 0;
  std::uint64_t ways_ = 0;
  std::uint64_t clock_ = 0;
  std::vector<Line> lines_;
};

}  // namespace emulator
