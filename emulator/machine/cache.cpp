// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/cache.h"

#include <algorithm>
#include <bit>

namespace emulator {

Cache::Cache(std::int64_t bytes, std::int64_t line, std::int64_t sector, std::int64_t ways)
    : sectors_(static_cast<std::size_t>(line / sector)) {
  const auto count = static_cast<std::uint64_t>(bytes / line);
  ways_ = std::min(static_cast<std::uint64_t>(ways), count);
  sets_.resize(ways_ == 0 ? 0 : count / ways_);
  lines_.resize(sets_.size() * ways_);
  ready_.resize(lines_.size() * sectors_);
  const std::size_t buckets = std::bit_ceil(std::max<std::size_t>(2 * lines_.size(), 2));
  buckets_.resize(buckets);
  shift_ = 64 - std::countr_zero(buckets);
  empty_ = false;
  clear();
}

// Every set is a list from its oldest line to its newest.
void Cache::clear() {
  if (empty_) return;
  empty_ = true;
  std::fill(buckets_.begin(), buckets_.end(), nowhere);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const std::size_t way = i % ways_;
    Line& line = lines_[i] = Line{};
    line.set = static_cast<std::int32_t>(i / ways_);
    if (way > 0) line.older = static_cast<Place>(i - 1);
    if (way + 1 < ways_) line.newer = static_cast<Place>(i + 1);
  }
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    sets_[s] = {static_cast<Place>(s * ways_), static_cast<Place>((s + 1) * ways_ - 1)};
  }
}

void Cache::make_newest(Place place) {
  Line& line = at(place);
  if (line.newer == nowhere) return;
  Set& set = sets_[static_cast<std::size_t>(line.set)];
  at(line.newer).older = line.older;
  if (line.older == nowhere) {
    set.oldest = line.newer;
  } else {
    at(line.older).newer = line.newer;
  }
  at(set.newest).newer = place;
  line.older = set.newest;
  line.newer = nowhere;
  set.newest = place;
}

Cache::Place Cache::find(std::uint64_t line) {
  if (lines_.empty()) return nowhere;
  Place place = buckets_[bucket(line)];
  while (place != nowhere && at(place).number != line) place = at(place).next;
  if (place != nowhere) make_newest(place);
  return place;
}

// Takes the line out of its bucket.
void Cache::forget(Place place) {
  Place* link = &buckets_[bucket(at(place).number)];
  while (*link != place) link = &at(*link).next;
  *link = at(place).next;
}

Cache::Put Cache::put(std::uint64_t number) {
  if (lines_.empty()) return {};
  empty_ = false;
  const Place place = sets_[static_cast<std::size_t>(number % sets_.size())].oldest;
  Line& line = at(place);
  const Put result{place, std::popcount(line.dirty)};
  if (line.used) forget(place);
  line.number = number;
  line.used = true;
  line.valid = 0;
  line.dirty = 0;
  Place& first = buckets_[bucket(number)];
  line.next = first;
  first = place;
  make_newest(place);
  return result;
}

void Cache::fill(Place place, unsigned sector, std::uint64_t ready) {
  at(place).valid |= static_cast<std::uint8_t>(1u << sector);
  ready_[static_cast<std::size_t>(place) * sectors_ + sector] = ready;
}

void Cache::make_dirty(Place place, unsigned sector) {
  at(place).dirty |= static_cast<std::uint8_t>(1u << sector);
}

}  // namespace emulator
