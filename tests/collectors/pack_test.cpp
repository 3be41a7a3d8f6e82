// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pack.h"

#include <algorithm>
#include <functional>

#include "plan_support.h"

namespace warpmeter {
namespace {

class Pack : public WithCupti {};

std::vector<PlannedCounter> counters_of(const ChipHost& chip, const std::string& set) {
  std::vector<PlannedCounter> counters;
  for (const LogicalMetric* metric : Catalogue::built_in().of_set(set)) {
    const Resolution r = resolve(chip, Catalogue::built_in(), *metric);
    if (!r.name.empty()) counters.push_back({r.name, metric->scope, r.passes});
  }
  return counters;
}

std::vector<std::string> sorted_names(const std::vector<PassGroup>& groups) {
  std::vector<std::string> names;
  for (const PassGroup& group : groups)
    names.insert(names.end(), group.names.begin(), group.names.end());
  std::sort(names.begin(), names.end());
  return names;
}

void check_groups(const ChipHost& chip, const std::vector<PlannedCounter>& counters,
                  const std::vector<PassGroup>& groups) {
  std::vector<std::string> expected;
  for (const PlannedCounter& counter : counters) expected.push_back(counter.name);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(sorted_names(groups), expected);  // each once
  for (const PassGroup& group : groups) {
    const CounterConfig again = chip.configure(group.names);
    EXPECT_EQ(again.error, 0);
    EXPECT_EQ(group.configuration.passes, again.passes);
    EXPECT_EQ(group.configuration.image, again.image);
    for (const std::string& name : group.names)
      EXPECT_EQ(group.instrumented, name.find("__sass_") != std::string::npos) << name;
  }
}

TEST_F(Pack, EveryCounterIsInOneGroupThatCuptiAccepts) {
  for (const char* name : {"GB100", "AD102", "GA100"}) {
    for (const Profiler profiler : both_profilers) {
      const ChipHost chip = cupti_->chip(name, profiler);
      for (const char* set : {"memory", "links", "tensor"}) {
        const auto counters = counters_of(chip, set);
        const auto groups = pack(chip, counters);
        check_groups(chip, counters, groups);
        check_groups(chip, counters, pack_for_replay(chip, counters));
        for (const PlannedCounter& counter : counters) {
          const auto in = std::find_if(groups.begin(), groups.end(), [&](const PassGroup& g) {
            return std::count(g.names.begin(), g.names.end(), counter.name) > 0;
          });
          EXPECT_EQ(counter.passes == 1, in->configuration.passes == 1) << counter.name;
        }
      }
    }
  }
}

// Two counters of L2 that fit one pass, if none of them is said to be instrumented.
TEST_F(Pack, InstrumentedCountersStayApart) {
  const ChipHost chip = cupti_->chip("GH100", Profiler::range);
  const PlannedCounter sectors{"lts__t_sectors.sum", CounterScope::context, 1};
  PlannedCounter reads{"lts__t_sectors_op_read.sum", CounterScope::context, 1};
  EXPECT_EQ(pack(chip, {sectors, reads}).size(), 1U);
  EXPECT_EQ(pack_for_replay(chip, {sectors, reads}).size(), 1U);
  reads.scope = CounterScope::instrumented;
  EXPECT_EQ(pack(chip, {sectors, reads}).size(), 2U);
  EXPECT_EQ(pack_for_replay(chip, {sectors, reads}).size(), 2U);
}

// The fewest groups of one pass over all ways to part the counters.
std::size_t fewest_groups(const ChipHost& chip, const std::vector<std::string>& names) {
  std::size_t best = names.size();
  std::vector<std::vector<std::string>> groups;
  const std::function<void(std::size_t)> place = [&](std::size_t i) {
    if (groups.size() >= best) return;
    if (i == names.size()) {
      best = groups.size();
      return;
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      groups[g].push_back(names[i]);
      if (const auto c = chip.configure(groups[g]); c.error == 0 && c.passes == 1) place(i + 1);
      groups[g].pop_back();
    }
    groups.push_back({names[i]});
    place(i + 1);
    groups.pop_back();
  };
  place(0);
  return best;
}

TEST_F(Pack, NeedsNoMoreGroupsThanTheBestOfAllPartitions) {
  for (const char* name : {"GH100", "GB100", "GB202"}) {
    const ChipHost chip = cupti_->chip(name, Profiler::range);
    std::vector<PlannedCounter> counters;
    std::vector<std::string> names;
    for (const char* reason : {"barrier", "wait", "membar", "drain", "selected", "mio_throttle"}) {
      names.push_back(std::string("smsp__average_warps_issue_stalled_") + reason +
                      "_per_issue_active.ratio");
      counters.push_back(
          {names.back(), CounterScope::context, chip.configure({names.back()}).passes});
      ASSERT_EQ(counters.back().passes, 1U);
    }
    const std::size_t best = fewest_groups(chip, names);
    EXPECT_GT(best, 1U);
    EXPECT_EQ(pack(chip, counters).size(), best) << name;
  }
}

}  // namespace
}  // namespace warpmeter
