// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/host/chase.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "kernels/host/random.h"

namespace warpmeter {

namespace {

const void* next_of(const void* line) { return *static_cast<const void* const*>(line); }

template <std::size_t chains>
void chase_fixed(const void** heads, std::size_t hops) {
  std::array<const void*, chains> at;
  std::copy_n(heads, chains, at.begin());
  for (; hops != 0; --hops) {
#pragma GCC unroll 32
    for (std::size_t i = 0; i < chains; ++i) at[i] = next_of(at[i]);
  }
  std::copy_n(at.begin(), chains, heads);
}

using ChaseFixed = void (*)(const void**, std::size_t);

template <std::size_t... n>
constexpr std::array<ChaseFixed, sizeof...(n)> chase_table(std::index_sequence<n...>) {
  return {&chase_fixed<n + 1>...};
}

}  // namespace

CycleBuilder::CycleBuilder(void* base, std::size_t lines, std::size_t line_size, std::uint64_t seed)
    : base_(static_cast<std::byte*>(base)),
      lines_(lines),
      line_size_(line_size),
      seed_(seed),
      groups_((lines + group_lines - 1) / group_lines),
      linked_(groups_) {
  if (lines == 0 || line_size < sizeof(void*)) throw std::invalid_argument("cycle without lines");
}

const void** CycleBuilder::line(std::size_t group, std::size_t block) const {
  std::size_t shift = groups_ == 1 ? 0 : mix(seed_ + block) % groups_;
  std::size_t index = block * groups_ + (group + shift) % groups_;
  return index < lines_ ? reinterpret_cast<const void**>(base_ + index * line_size_) : nullptr;
}

void CycleBuilder::link_group(std::size_t group) {
  std::vector<std::uint32_t> order((lines_ + groups_ - 1) / groups_);
  std::iota(order.begin(), order.end(), 0U);
  Random random(seed_ ^ mix(group + 1));
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);

  Group& linked = linked_[group];
  for (std::uint32_t block : order) {
    const void** here = line(group, block);
    if (here == nullptr) continue;  // the last block may be short
    if (linked.marks.empty() || linked.marks.back().hops == mark_hops)
      linked.marks.push_back({here, 0});
    ++linked.marks.back().hops;
    if (linked.last != nullptr) *linked.last = here;
    linked.last = here;
  }
}

std::vector<CycleMark> CycleBuilder::join() {
  std::vector<CycleMark> marks;
  for (std::size_t group = 0; group < groups_; ++group) {
    const Group& next = linked_[(group + 1) % groups_];
    *linked_[group].last = next.marks.front().first;
    marks.insert(marks.end(), linked_[group].marks.begin(), linked_[group].marks.end());
  }
  return marks;
}

CycleWalk walk_cycle(std::span<const CycleMark> marks, std::size_t begin, std::size_t end) {
  constexpr std::size_t width = 16;
  CycleWalk walk;
  for (std::size_t batch = begin; batch < end; batch += width) {
    std::size_t chains = std::min(width, end - batch);
    std::array<const void*, width> at{};
    std::size_t longest = 0;
    for (std::size_t i = 0; i < chains; ++i) {
      at[i] = marks[batch + i].first;
      longest = std::max(longest, marks[batch + i].hops);
    }
    for (std::size_t hop = 0; hop < longest; ++hop) {
      for (std::size_t i = 0; i < chains; ++i) {
        if (hop >= marks[batch + i].hops) continue;
        walk.address_sum += reinterpret_cast<std::uintptr_t>(at[i]);
        at[i] = next_of(at[i]);
      }
    }
    for (std::size_t i = 0; i < chains; ++i)
      walk.closed &= at[i] == marks[(batch + i + 1) % marks.size()].first;
  }
  return walk;
}

const void* chase(const void* start, std::size_t rounds) {
  const void* at = start;
  for (; rounds != 0; --rounds) {
#pragma GCC unroll 32
    for (std::size_t i = 0; i < chase_hops_per_round; ++i) at = next_of(at);
  }
  return at;
}

void chase_chains(std::span<const void*> heads, std::size_t hops) {
  static constexpr auto table = chase_table(std::make_index_sequence<max_chains>());
  if (heads.empty() || heads.size() > max_chains) throw std::invalid_argument("1 to 32 chains");
  table[heads.size() - 1](heads.data(), hops);
}

}  // namespace warpmeter
