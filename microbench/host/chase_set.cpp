// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/chase_set.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

// Beyond this no second-level cache of today holds the set.
constexpr std::size_t shared_build_bytes = 16 << 20;

// Marks that walk_cycle follows side by side.
constexpr std::size_t batch = 16;

}  // namespace

ChaseSet::ChaseSet(double footprint, double line, PageKind page, std::uint64_t seed, Team& owner)
    : pages_(static_cast<std::size_t>(footprint), page),
      lines_(static_cast<std::size_t>(footprint / line)) {
  std::unique_ptr<Team> helpers;
  if (pages_.size() > shared_build_bytes) helpers = std::make_unique<Team>(cores_near_first());
  Team& builders = helpers ? *helpers : owner;
  build(builders, line, seed);
  verify(builders, line);
}

void ChaseSet::build(Team& builders, double line, std::uint64_t seed) {
  const auto ranks = static_cast<std::size_t>(builders.size());
  const bool alone = pages_.size() <= shared_build_bytes;
  builders.run([&](int rank) {
    if (alone && rank != 0) return;
    pages_.populate(alone ? 0 : static_cast<std::size_t>(rank), alone ? 1 : ranks);
  });
  pages_.require_kind();
  CycleBuilder cycle(pages_.data(), lines_, static_cast<std::size_t>(line), seed);
  builders.run([&](int rank) {
    if (alone && rank != 0) return;
    const std::size_t step = alone ? 1 : ranks;
    for (std::size_t group = static_cast<std::size_t>(rank); group < cycle.groups(); group += step)
      cycle.link_group(group);
  });
  marks_ = cycle.join();
}

void ChaseSet::verify(Team& builders, double line) const {
  const auto ranks = static_cast<std::size_t>(builders.size());
  std::vector<CycleWalk> walks(ranks);
  builders.run([&](int rank) {
    CycleWalk& mine = walks[static_cast<std::size_t>(rank)];
    for (std::size_t at = static_cast<std::size_t>(rank) * batch; at < marks_.size();
         at += ranks * batch) {
      const CycleWalk walk = walk_cycle(marks_, at, std::min(at + batch, marks_.size()));
      mine.address_sum += walk.address_sum;
      mine.closed &= walk.closed;
    }
  });
  const std::uint64_t n = lines_;
  const std::uint64_t pairs = n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
  std::uint64_t expected = reinterpret_cast<std::uintptr_t>(pages_.data()) * n +
                           pairs * static_cast<std::uint64_t>(line);
  bool closed = true;
  for (const CycleWalk& walk : walks) {
    expected -= walk.address_sum;
    closed &= walk.closed;
  }
  if (expected != 0 || !closed)
    throw std::runtime_error("corrupt: the chain is not one cycle over all lines");
}

std::vector<const void*> ChaseSet::checked_heads(std::size_t chains) const {
  if (chains > marks_.size())
    throw std::invalid_argument("more chains than stretches of the cycle");
  std::vector<const void*> heads;
  std::vector<std::size_t> at;
  std::size_t hops = CycleBuilder::mark_hops;
  for (std::size_t i = 0; i < chains; ++i) {
    at.push_back(marks_.size() * i / chains);
    heads.push_back(marks_[at.back()].first);
    hops = std::min(hops, marks_[at.back()].hops);
  }
  std::size_t rest = hops;
  if (chains == 1) {
    heads[0] = chase(heads[0], hops / chase_hops_per_round);
    rest = hops % chase_hops_per_round;
  }
  chase_chains(heads, rest);
  for (std::size_t i = 0; i < chains; ++i)
    if (marks_[at[i]].hops == hops && heads[i] != marks_[(at[i] + 1) % marks_.size()].first)
      throw std::runtime_error("corrupt: a chain of loads lost its way");
  return heads;
}

}  // namespace warpmeter
