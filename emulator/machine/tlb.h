// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "emulator/machine/cache.h"

namespace emulator {

// One level of a translation lookaside buffer: any page in any entry, the least recently used goes.
class Tlb {
 public:
  Tlb() = default;
  // `reach` and `page` in bytes; a `miss_latency` of 0 turns it off.
  Tlb(std::int64_t reach, std::int64_t page, std::int64_t miss_latency)
      : miss_latency_(static_cast<double>(miss_latency)) {
    if (on()) pages_ = Cache(reach, page, page, reach / page);
  }

  bool on() const { return miss_latency_ > 0; }
  // Cycles that the translation adds; afterwards the page is there.
  double miss(std::uint64_t page) {
    if (page == last_) return 0;
    last_ = page;
    if (pages_.find(page) != Cache::nowhere) return 0;
    pages_.put(page);
    return miss_latency_;
  }

 private:
  double miss_latency_ = 0;
  std::uint64_t last_ = ~std::uint64_t{0};  // is the most recent: looking it up changes nothing
  Cache pages_;
};

}  // namespace emulator
