// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/cache.h"

#include <algorithm>
#include <bit>

namespace emulator {

Cache::Cache(std::int64_t bytes, std::int64_t line, std::int64_t sector, std::int64_t ways)
    : line_bytes_(static_cast<std::uint64_t>(line)),
      sector_bytes_(static_cast<std::uint64_t>(sector)) {
  const auto count = static_cast<std::uint64_t>(bytes / line);
  ways_ = std::min(static_cast<std::uint64_t>(ways), count);
  sets_ = ways_ == 0 ? 0 : count / ways_;
  lines_.resize(sets_ * ways_);
}

void Cache::clear() { std::fill(lines_.begin(), lines_.end(), Line{}); }

Cache::Line* Cache::set_of(std::uint64_t line_number) {
  return lines_.data() + line_number % sets_ * ways_;
}

Cache::Line* Cache::match(std::uint64_t line_number) {
  if (sets_ == 0) return nullptr;
  Line* set = set_of(line_number);
  for (std::uint64_t way = 0; way < ways_; ++way) {
    if (set[way].tag == line_number && set[way].valid != 0) return set + way;
  }
  return nullptr;
}

Cache::Result Cache::find(std::uint64_t address) {
  Line* line = match(address / line_bytes_);
  if (line == nullptr) return {};
  line->used = ++clock_;
  const std::uint64_t sector = address % line_bytes_ / sector_bytes_;
  if ((line->valid >> sector & 1) == 0) return {};
  return {true, line->ready[sector], 0};
}

Cache::Result Cache::fill(std::uint64_t address, std::uint64_t ready, bool dirty) {
  if (sets_ == 0) return {};
  const std::uint64_t number = address / line_bytes_;
  const std::uint64_t sector = address % line_bytes_ / sector_bytes_;
  Result result;
  Line* line = match(number);
  if (line == nullptr) {
    Line* set = set_of(number);
    line = std::min_element(set, set + ways_,
                            [](const Line& a, const Line& b) { return a.used < b.used; });
    result.evicted_dirty_sectors = std::popcount(line->dirty);
    *line = Line{};
    line->tag = number;
  }
  line->used = ++clock_;
  const auto bit = static_cast<std::uint8_t>(1u << sector);
  line->valid |= bit;
  if (dirty) line->dirty |= bit;
  line->ready[sector] = ready;
  return result;
}

}  // namespace emulator
