// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/cycle.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace warpmeter {

std::vector<std::uint32_t> random_cycle(std::uint32_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> next(count);
  std::iota(next.begin(), next.end(), 0u);
  std::mt19937_64 random(seed);
  for (std::uint32_t i = count; i-- > 1;) {
    const std::uint32_t j = std::uniform_int_distribution<std::uint32_t>(0, i - 1)(random);
    std::swap(next[i], next[j]);
  }
  return next;
}

std::vector<std::uint32_t> grouped_cycle(std::uint32_t count, std::uint32_t group,
                                         std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937_64 random(seed);
  for (std::uint32_t first = 0; first < count; first += std::min(group, count - first)) {
    std::shuffle(order.begin() + first, order.begin() + first + std::min(group, count - first),
                 random);
  }
  std::vector<std::uint32_t> next(count);
  for (std::uint32_t i = 0; i < count; ++i) next[order[i]] = order[(i + 1) % count];
  return next;
}

std::uint32_t walk(const std::vector<std::uint32_t>& next, std::uint32_t start,
                   std::uint64_t hops) {
  std::uint32_t at = start;
  for (std::uint64_t i = 0; i < hops; ++i) at = next[at];
  return at;
}

}  // namespace warpmeter
