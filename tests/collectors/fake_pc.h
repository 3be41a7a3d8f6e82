// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectors/cupti_api.h"

namespace warpmeter {

struct PcRecord {
  std::string function;
  std::uint64_t crc, offset;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reasons;  // index, samples
};

// PC sampling of a simulated device: what each call hands over is planted.
struct FakePc {
  std::mutex mutex;
  std::deque<PcRecord> records;
  std::uint64_t dropped = 0, not_user = 0;
  bool full = false;
  std::size_t withheld = 0;  // instructions that it says it has
  std::map<std::string, CUptiResult> errors;
  std::multiset<std::string> calls;
  std::set<int> attributes;
  CUpti_PCSamplingData* last = nullptr;  // the buffer that close() reads
  std::vector<PcRecord> at_end;
};

CuptiApi api_of(FakePc& device);  // one at a time

}  // namespace warpmeter
