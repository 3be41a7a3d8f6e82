// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/coalesce.h"

#include <algorithm>
#include <bit>

namespace emulator {
namespace {

// Whether all lanes access neighbouring places in their order: the common case.
bool contiguous(const Access& access) {
  if (access.mask != all_lanes) return false;
  std::uint64_t differences = 0;
  for (std::size_t l = 0; l < 32; ++l) {
    differences |= access.address[l] - access.address[0] - l * access.bytes;
  }
  return differences == 0;
}

}  // namespace

void coalesce(const Access& access, int shift, std::uint64_t origin, Sectors& sectors) {
  if (contiguous(access)) {
    const std::uint64_t begin = access.address[0] - origin;
    const std::uint64_t first = begin >> shift;
    const std::uint64_t last = (begin + 32 * std::uint64_t{access.bytes} - 1) >> shift;
    sectors.count = static_cast<std::size_t>(last - first + 1);
    for (std::size_t i = 0; i < sectors.count; ++i) sectors.number[i] = first + i;
    return;
  }
  std::size_t count = 0;
  bool sorted = true;
  for (std::uint32_t m = access.mask; m != 0; m &= m - 1) {
    const std::uint64_t begin =
        access.address[static_cast<std::size_t>(std::countr_zero(m))] - origin;
    const std::uint64_t last = (begin + access.bytes - 1) >> shift;
    for (std::uint64_t s = begin >> shift; s <= last; ++s) {
      if (count > 0 && sectors.number[count - 1] == s) continue;
      if (count == sectors.number.size()) break;
      sorted = sorted && (count == 0 || sectors.number[count - 1] < s);
      sectors.number[count++] = s;
    }
  }
  const auto begin = sectors.number.begin();
  if (!sorted) {
    std::sort(begin, begin + count);
    count = static_cast<std::size_t>(std::unique(begin, begin + count) - begin);
  }
  sectors.count = count;
}

int lanes_of(const Access& access, int shift, std::uint64_t origin, std::uint64_t sector) {
  int lanes = 0;
  for (std::uint32_t m = access.mask; m != 0; m &= m - 1) {
    const std::uint64_t begin =
        access.address[static_cast<std::size_t>(std::countr_zero(m))] - origin;
    if (begin >> shift <= sector && sector <= (begin + access.bytes - 1) >> shift) ++lanes;
  }
  return lanes;
}

std::uint64_t wavefronts_of(const Access& access, std::uint64_t banks, bool atomic) {
  const int words = static_cast<int>(std::max(1u, access.bytes / 4));
  if (access.bytes == 4 && banks >= 32 && contiguous(access)) return 1;
  const int group = std::max(1, 32 / words);
  std::uint64_t wavefronts = 0;
  for (int first = 0; first < 32; first += group) {
    std::array<std::array<std::uint64_t, 32>, 64> seen;
    std::array<std::uint8_t, 64> count{};
    std::uint64_t worst = 0;
    for (int l = first; l < first + group; ++l) {
      if ((access.mask >> l & 1) == 0) continue;
      for (int word = 0; word < words; ++word) {
        const std::uint64_t at =
            access.address[static_cast<std::size_t>(l)] / 4 + static_cast<std::uint64_t>(word);
        const std::uint64_t bank = at % banks;
        auto& known = seen[bank];
        std::uint8_t& used = count[bank];
        const bool again =
            !atomic && std::find(known.begin(), known.begin() + used, at) != known.begin() + used;
        if (again || used == 32) continue;
        known[used++] = at;
        worst = std::max<std::uint64_t>(worst, used);
      }
    }
    wavefronts += worst;
  }
  return std::max<std::uint64_t>(wavefronts, 1);
}

}  // namespace emulator
