// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The part of Session for collectors that follow the program's contexts and launches.
#include <map>

#include "collectors/clock.h"
#include "collectors/ladder.h"
#include "collectors/launch_watch.h"
#include "core/error.h"
#include "profiler/session.h"

namespace warpmeter {
namespace {

// One plan per device; planning takes CUPTI a while, so that chips of a kind share theirs. A chip
// that CUPTI does not know has no plan: that of another would count something else.
std::vector<CounterPlan> plans_for(const Target& target, const std::string& set) {
  const CuptiHost& cupti = CuptiHost::open();  // the library that the process has open
  const Catalogue& catalogue = Catalogue::built_in();
  const auto asked = catalogue.of_set(set);
  std::map<std::string, CounterPlan> by_chip;
  std::vector<CounterPlan> plans;
  for (const TargetDevice& device : target.devices) {
    auto found = by_chip.find(device.chip);
    if (found == by_chip.end()) {
      const ChipHost chip = cupti.chip(device.chip, Profiler::range);
      found = by_chip.emplace(device.chip, counter_plan(make_plan(cupti, chip, catalogue, asked)))
                  .first;
    }
    plans.push_back(found->second);
  }
  return plans;
}

RangeOptions range_options(double overhead_budget) {
  RangeOptions options;
  options.max_share = overhead_budget;
  if (overhead_budget > 0) return options;
  options.max_share = 1;  // no budget: every launch that may be measured is
  options.launches_per_second = 1e12;
  return options;
}

}  // namespace

// Before anything is enabled at CUPTI: contexts are only told when they are made.
void Session::start_watch() {
  if (!options_.collects("range") && !options_.collects("pc")) return;
  try {
    watch_ = std::make_unique<LaunchWatch>(*cupti_, *subscription_);
  } catch (const InputError& error) {
    for (const char* name : {"range", "pc"})
      if (options_.collects(name)) refuse(name, error.what());
  }
}

void Session::add_watched_collectors(const Ladder& ladder) {
  if (!watch_) return;
  if (ladder.grants(access_range)) {
    add("range", [this] {
      return std::make_unique<WatchedRanges>(target_, plans_for(target_, options_.metrics),
                                             range_options(options_.overhead_budget), *watch_);
    });
  }
  if (ladder.grants(access_pc)) {
    add("pc", [this] {
      auto collector = std::make_unique<PcCollector>(target_, PcOptions(), monotonic_ns);
      watch_->attach(*collector);
      return collector;
    });
  }
}

}  // namespace warpmeter
