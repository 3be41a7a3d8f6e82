// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/timeline_sweep.h"

#include <algorithm>
#include <limits>

namespace warpmeter {
namespace {

void add(std::vector<ActivityShare>& shares, const ActivityShare& share) {
  for (ActivityShare& known : shares) {
    if (known.activity != share.activity) continue;
    known.time += share.time;
    known.launches += share.launches;
    return;
  }
  shares.push_back(share);
}

}  // namespace

Timeline::Timeline(std::vector<KernelSpan> kernels, std::int32_t groups)
    : groups_(groups), kernels_(std::move(kernels)), launches_(std::size_t(groups), 0) {
  std::erase_if(kernels_, [](const KernelSpan& k) { return k.end_ns <= k.start_ns; });
  std::sort(kernels_.begin(), kernels_.end(),
            [](const KernelSpan& a, const KernelSpan& b) { return a.start_ns < b.start_ns; });
  for (const KernelSpan& kernel : kernels_) ++launches_[std::size_t(kernel.group)];
}

std::int32_t Timeline::activity_of(const std::vector<std::size_t>& active) {
  if (active.empty()) return 0;
  if (active.size() == 1) return 1 + kernels_[active.front()].group;
  std::vector<std::int32_t> set;
  for (const std::size_t kernel : active) set.push_back(kernels_[kernel].group);
  std::sort(set.begin(), set.end());
  return sets_.try_emplace(std::move(set), activities()).first->second;
}

void Timeline::sweep(std::span<const std::int64_t> times, const std::vector<bool>& valid,
                     const std::function<void(const SweptInterval&)>& use) {
  std::vector<std::size_t> active;
  std::size_t next = 0;
  SweptInterval interval;
  if (times.empty()) return;
  std::int64_t now = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < times.size(); ++i) {
    interval.index = i;
    interval.shares.clear();
    ActivityShare current;
    while (now < times[i]) {
      std::int64_t until = times[i];
      if (next < kernels_.size()) until = std::min(until, kernels_[next].start_ns);
      for (const std::size_t kernel : active) until = std::min(until, kernels_[kernel].end_ns);
      if (i > 0 && until > now) {
        const double time = static_cast<double>(until - now);
        current = {activity_of(active), 1, 0};
        if (active.size() == 1) {
          const KernelSpan& kernel = kernels_[active.front()];
          current.launches = 1 / static_cast<double>(kernel.end_ns - kernel.start_ns);
        }
        if (interval.shares.empty()) interval.at_start = current;
        add(interval.shares, {current.activity, time, time * current.launches});
      }
      now = until;
      std::erase_if(active, [&](std::size_t kernel) { return kernels_[kernel].end_ns <= now; });
      while (next < kernels_.size() && kernels_[next].start_ns <= now) {
        if (kernels_[next].end_ns > now) active.push_back(next);
        ++next;
      }
    }
    if (i == 0 || !valid[i] || interval.shares.empty()) continue;
    interval.at_end = current;
    interval.length = static_cast<double>(times[i] - times[i - 1]);
    interval.before_end = interval.after_end = 0;
    if (active.size() == 1) {
      const KernelSpan& cut = kernels_[active.front()];
      interval.before_end = static_cast<double>(times[i] - cut.start_ns);
      interval.after_end = static_cast<double>(cut.end_ns - times[i]);
    }
    interval.may_cut = std::all_of(active.begin(), active.end(), [&](std::size_t kernel) {
      return kernels_[kernel].start_ns > times[i - 1] || launches(kernels_[kernel].group) < 3;
    });
    use(interval);
  }
}

}  // namespace warpmeter
