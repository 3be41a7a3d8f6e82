// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pack.h"

#include <algorithm>
#include <stdexcept>

namespace warpmeter {
namespace {

class Packer {
 public:
  explicit Packer(const ChipHost& chip) : chip_(chip) {}

  void put(const PlannedCounter& counter) {
    const bool instrumented = counter.scope == CounterScope::instrumented;
    std::size_t best_cost = counter.passes;
    PassGroup* best = nullptr;
    CounterConfig best_configuration;
    for (PassGroup& group : groups_) {
      if (best_cost == 0 || group.instrumented != instrumented) continue;
      if (counter.passes > 1 && group.configuration.passes == 1) continue;
      std::vector<std::string> names = group.names;
      names.push_back(counter.name);
      CounterConfig joined = chip_.configure(names);
      // Refused: counters of a device and of a context, which the profiler keeps apart.
      if (joined.error != 0) continue;
      const std::size_t before = group.configuration.passes;
      const std::size_t cost = joined.passes > before ? joined.passes - before : 0;
      if (cost >= best_cost) continue;
      best_cost = cost;
      best = &group;
      best_configuration = std::move(joined);
    }
    if (best == nullptr) {
      groups_.push_back({{counter.name}, instrumented, chip_.configure({counter.name})});
      if (groups_.back().configuration.error != 0)
        throw std::logic_error(counter.name + " cannot be scheduled alone");
      return;
    }
    best->names.push_back(counter.name);
    best->configuration = std::move(best_configuration);
  }

  std::vector<PassGroup> take() { return std::move(groups_); }

 private:
  const ChipHost& chip_;
  std::vector<PassGroup> groups_;
};

// 0: counters of a context; 1: of a device, which the range profiler keeps apart; 2: instrumented.
int replay_class(const ChipHost& chip, const PlannedCounter& counter) {
  if (counter.scope == CounterScope::instrumented) return 2;
  return counter.scope == CounterScope::device && chip.profiler() == Profiler::range ? 1 : 0;
}

}  // namespace

std::vector<PassGroup> pack(const ChipHost& chip, std::vector<PlannedCounter> counters) {
  const auto longer = [](const PlannedCounter& a, const PlannedCounter& b) {
    return a.passes > b.passes;
  };
  const auto rest = std::stable_partition(counters.begin(), counters.end(),
                                          [](const PlannedCounter& c) { return c.passes == 1; });
  std::stable_sort(rest, counters.end(), longer);
  Packer packer(chip);
  for (const PlannedCounter& counter : counters) packer.put(counter);
  return packer.take();
}

std::vector<PassGroup> pack_for_replay(const ChipHost& chip,
                                       const std::vector<PlannedCounter>& counters) {
  std::vector<PassGroup> groups;
  for (int kind = 0; kind < 3; ++kind) {
    PassGroup group;
    group.instrumented = kind == 2;
    for (const PlannedCounter& counter : counters)
      if (replay_class(chip, counter) == kind) group.names.push_back(counter.name);
    if (group.names.empty()) continue;
    group.configuration = chip.configure(group.names);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace warpmeter
