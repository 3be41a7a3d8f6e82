// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/overhead_keeper.h"

#include <fmt/format.h>

#include "core/interval.h"

namespace warpmeter {
namespace {

constexpr std::size_t most_tries = 3;
constexpr std::size_t most_rounds = 1000;  // that are told one by one
constexpr double pause_s = 1;  // before a round that follows at once; also: work flows if a kernel
                               // was seen so short a time ago

std::int64_t ns(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

}  // namespace

const std::vector<std::string>& OverheadKeeper::shedding_order() {
  static const std::vector<std::string> order = {"pc",    "range", "pm",      "nvml",
                                                 "calls", "nvtx",  "timeline"};
  return order;
}

bool OverheadKeeper::begins(std::int64_t now_ns, std::uint64_t kernels) {
  if (kernels != kernels_) {
    kernels_ = kernels;
    last_ns_ = now_ns;
    if (!first_ns_) first_ns_ = now_ns;
  }
  if (!first_ns_ || now_ns - *first_ns_ < ns(plan_.warm_up_s) || now_ns < next_ns_ ||
      now_ns - last_ns_ > ns(pause_s))
    return false;
  running_ = true;
  return true;
}

// ABBA: armed first in every other pair.
bool OverheadKeeper::next_armed() const {
  const std::size_t i = windows_.size() % 4;
  return i == 0 || i == 3;
}

void OverheadKeeper::open(std::int64_t now_ns, std::uint64_t launches) {
  armed_ = next_armed();
  from_ns_ = now_ns;
  until_ns_ = now_ns + ns(plan_.window_s);
  launches_ = launches;
}

void OverheadKeeper::close(std::int64_t now_ns, std::uint64_t launches) {
  windows_.push_back({armed_, from_ns_, now_ns, launches - launches_});
}

std::optional<std::string> OverheadKeeper::end(std::int64_t now_ns,
                                               const std::set<std::string>& present) {
  running_ = false;
  Round round;
  round.estimate = estimate_overhead(windows_);
  const OverheadEstimate& estimate = round.estimate;
  bool decided = true;
  if (!estimate.ok() || (*estimate.low <= budget_ && *estimate.high > budget_)) {
    decided = ++tries_ == most_tries;
    round.finding = decided ? "not decided; tried again in the next period" : "not decided yet";
  } else if (*estimate.high <= budget_) {
    round.finding = "within the budget";
  } else {
    for (const std::string& name : shedding_order()) {
      if (!present.contains(name)) continue;
      round.shed = name;
      break;
    }
    round.finding = "over the budget";
  }
  next_ns_ = now_ns + ns(decided && !round.shed ? plan_.period_s : pause_s);
  if (decided) {
    windows_.clear();
    tries_ = 0;
  }
  kept_ = windows_.size();
  finding_ = fmt::format("overhead {}, budget {:.4g} %: {}", warpmeter::describe(estimate),
                         100 * budget_, round.finding);
  if (rounds_.size() == most_rounds) rounds_.erase(rounds_.begin());
  rounds_.push_back(round);
  return round.shed;
}

void OverheadKeeper::abandon(std::int64_t now_ns, const std::string& why) {
  running_ = false;
  windows_.resize(kept_);
  next_ns_ = now_ns + ns(pause_s);
  ++abandoned_[why];
}

Json OverheadKeeper::describe() const {
  Json json = to_json(rounds_.empty() ? estimate_overhead({}) : rounds_.back().estimate);
  json["budget"] = budget_;
  json["level"] = default_level;
  json["finding"] = finding_;
  json["rounds"] = Json::array();
  json["shed"] = Json::array();
  for (const Round& round : rounds_) {
    Json one = to_json(round.estimate);
    one["finding"] = round.finding;
    one["shed"] = round.shed ? Json(*round.shed) : Json();
    json["rounds"].push_back(one);
    if (round.shed) json["shed"].push_back(*round.shed);
  }
  json["abandoned"] = abandoned_;
  return json;
}

}  // namespace warpmeter
