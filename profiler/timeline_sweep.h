// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace warpmeter {

// One launch on a device: [start, end) in ns of the samples' clock. Launches of one group do the
// same work. Groups are numbered from 0.
struct KernelSpan {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int32_t group = 0;
};

// What may run at a moment: nothing, one launch of a group, or several launches at once. Each is an
// activity: 0 is idle, 1 + g group g alone, then a number per set of groups that ran together.
struct ActivityShare {
  std::int32_t activity = 0;
  double time = 0;      // ns
  double launches = 0;  // of the group; 0 unless it ran alone
};

// An interval between two samples.
struct SweptInterval {
  std::size_t index = 0;  // ends at times[index]
  double length = 0;      // ns
  std::vector<ActivityShare> shares;
  // At its two ends: the activity, and launches (alone) or ns that a ns of it is.
  ActivityShare at_start, at_end;
  double before_end = 0, after_end = 0;  // ns of the launch, if one alone is cut by the end; else 0
  // Its end may part independent stretches: no launch of a group with at least three launches
  // continues there from before the interval.
  bool may_cut = false;
};

// The launches of one device, in the order of their start.
class Timeline {
 public:
  // Launches without a duration are left out.
  Timeline(std::vector<KernelSpan> kernels, std::int32_t groups);

  // Calls `use` for each interval between neighbours of `times` (which ascend) that `valid`, one
  // per time, does not exclude: valid[i] is of the interval that ends at times[i].
  void sweep(std::span<const std::int64_t> times, const std::vector<bool>& valid,
             const std::function<void(const SweptInterval&)>& use);

  std::int32_t groups() const { return groups_; }
  std::int32_t activities() const {  // so far: sets of groups are numbered as they are met
    return groups_ + 1 + static_cast<std::int32_t>(sets_.size());
  }
  // Groups of a set, and its activity.
  const std::map<std::vector<std::int32_t>, std::int32_t>& sets() const { return sets_; }
  std::int64_t launches(std::int32_t group) const { return launches_[std::size_t(group)]; }

 private:
  std::int32_t activity_of(const std::vector<std::size_t>& active);

  const std::int32_t groups_;
  std::vector<KernelSpan> kernels_;
  std::vector<std::int64_t> launches_;  // by group
  std::map<std::vector<std::int32_t>, std::int32_t> sets_;
};

}  // namespace warpmeter
