// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <vector>

namespace emulator {

// Tags of a sectored, set-associative cache with least-recently-used replacement. It holds no data,
// only when each sector arrives. Lines are given by number, sectors by their index in the line.
class Cache {
 public:
  using Place = std::int32_t;
  static constexpr Place nowhere = -1;

  Cache() = default;
  // The ways are what is asked or as many as there are lines; lines left over make no set. At most
  // 8 sectors.
  Cache(std::int64_t bytes, std::int64_t line, std::int64_t sector, std::int64_t ways);

  // Where the line is, which becomes the most recent; `nowhere` if it is not there.
  Place find(std::uint64_t line);
  struct Put {
    Place place = nowhere;  // of a cache without lines
    int evicted_dirty_sectors = 0;
  };
  // Replaces the oldest line of the set. The line must not be there.
  Put put(std::uint64_t line);
  bool holds(Place place, unsigned sector) const { return at(place).valid >> sector & 1; }
  // When the data of a sector that it holds is there.
  std::uint64_t ready(Place place, unsigned sector) const {
    return ready_[static_cast<std::size_t>(place) * sectors_ + sector];
  }
  void fill(Place place, unsigned sector, std::uint64_t ready);
  void make_dirty(Place place, unsigned sector);
  void clear();

 private:
  struct Line {
    std::uint64_t number = ~std::uint64_t{0};
    Place next = nowhere;  // in the bucket of the hash table
    Place older = nowhere;
    Place newer = nowhere;
    std::int32_t set = 0;
    std::uint8_t valid = 0;
    std::uint8_t dirty = 0;
    bool used = false;
  };
  struct Set {
    Place oldest = nowhere;
    Place newest = nowhere;
  };
  Line& at(Place place) { return lines_[static_cast<std::size_t>(place)]; }
  const Line& at(Place place) const { return lines_[static_cast<std::size_t>(place)]; }
  std::size_t bucket(std::uint64_t line) const {
    return static_cast<std::size_t>(line * 0x9e3779b97f4a7c15 >> shift_);
  }
  void make_newest(Place place);
  void forget(Place place);

  std::size_t sectors_ = 1;
  std::uint64_t ways_ = 0;
  bool empty_ = true;
  int shift_ = 63;
  std::vector<Line> lines_;
  std::vector<Set> sets_;
  std::vector<Place> buckets_;
  std::vector<std::uint64_t> ready_;
};

}  // namespace emulator
