// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "profiler/overhead.h"

namespace warpmeter {

// When the overhead is measured. A round is `pairs` pairs of windows.
struct RoundPlan {
  double warm_up_s = 5;  // of launches before the first round: a short run has no holes
  double window_s = 0.2;
  std::size_t pairs = 6;  // at least 4
  double period_s = 60;   // from a round that has decided to the next
};

// Decides when windows open and close and what is shed. Time and counts are the caller's, who arms
// and disarms:
//   if (begins(now, kernels)) { open(...) }, and while running(): if (over(now)) { close(...);
//   then open(...) the next, or end(...) once complete() }.
// Windows of the rounds that have not decided are put together, at most three rounds.
class OverheadKeeper {
 public:
  // What goes first, where it is present: what costs each launch most and others can do without.
  static const std::vector<std::string>& shedding_order();

  OverheadKeeper(double budget, const RoundPlan& plan) : budget_(budget), plan_(plan) {}

  // Call outside of rounds, while armed; `kernels`: seen so far, by which it knows that work flows.
  bool begins(std::int64_t now_ns, std::uint64_t kernels);

  bool running() const { return running_; }
  bool next_armed() const;  // whether the next window is an armed one
  void open(std::int64_t now_ns, std::uint64_t launches);
  bool over(std::int64_t now_ns) const { return now_ns >= until_ns_; }
  std::int64_t until_ns() const { return until_ns_; }  // of the open window
  void close(std::int64_t now_ns, std::uint64_t launches);
  bool complete() const { return windows_.size() - kept_ == 2 * plan_.pairs; }

  // The round is complete. Returns which of the collectors `present` is to be shed, if any.
  std::optional<std::string> end(std::int64_t now_ns, const std::set<std::string>& present);

  // The round cannot go on: its windows are forgotten.
  void abandon(std::int64_t now_ns, const std::string& why);

  const std::string& last_finding() const { return finding_; }

  // {budget, level, value, low, high, verdict, reason, windows (of the last round, as in `rounds`),
  // finding, rounds: [{value, ..., finding, shed}], abandoned: {why: times}, shed: [name]}.
  Json describe() const;

 private:
  struct Round {
    OverheadEstimate estimate;
    std::string finding;
    std::optional<std::string> shed;
  };

  const double budget_;
  const RoundPlan plan_;
  bool running_ = false;
  std::optional<std::int64_t> first_ns_;  // a kernel was seen
  std::int64_t last_ns_ = 0, next_ns_ = 0, until_ns_ = 0, from_ns_ = 0;
  std::uint64_t kernels_ = 0, launches_ = 0;
  bool armed_ = false;           // the open window is
  std::vector<Window> windows_;  // since the last decision
  std::size_t kept_ = 0;         // of former rounds
  std::size_t tries_ = 0;
  std::vector<Round> rounds_;
  std::map<std::string, int> abandoned_;
  std::string finding_;
};

}  // namespace warpmeter
