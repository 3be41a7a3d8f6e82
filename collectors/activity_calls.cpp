// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The part of ActivityRows that walks a buffer and joins calls.
#include <fmt/format.h>

#include <utility>

#include "collectors/activity_rows.h"
#include "collectors/launch_calls.h"

namespace warpmeter {
namespace {

constexpr int patience = 2;  // calls of settle_calls() that a driver's call waits for its runtime's

template <typename Activity>
const Activity& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Activity&>(record);
}

}  // namespace

std::size_t ActivityRows::add(std::uint8_t* data, std::size_t bytes) {
  std::size_t rows = 0;
  CUpti_Activity* record = nullptr;
  while (target_.cupti->cuptiActivityGetNextRecord(data, bytes, &record) == CUPTI_SUCCESS) {
    rows += add_record(*record);
    if (kernels_.size() == kernels_.capacity()) rows += flush_kernels();
  }
  return rows + flush_kernels();
}

std::size_t ActivityRows::add_record(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      add_kernel(as<CUpti_ActivityKernel10>(record));
      return 0;  // counted when they are flushed
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(as<CUpti_ActivityMemcpy6>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return add_peer_copy(as<CUpti_ActivityMemcpyPtoP4>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_set(as<CUpti_ActivityMemset4>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return add_synchronization(as<CUpti_ActivitySynchronization2>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return add_overhead(as<CUpti_ActivityOverhead3>(record));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      add_call(as<CUpti_ActivityAPI>(record), false);
      return 0;
    case CUPTI_ACTIVITY_KIND_DRIVER:
      add_call(as<CUpti_ActivityAPI>(record), true);
      return 0;
    default:
      ++unknown_[record.kind];
      return 0;
  }
}

void ActivityRows::add_call(const CUpti_ActivityAPI& activity, bool driver) {
  const LaunchCall* call =
      find_launch_call(driver ? driver_launch_calls() : runtime_launch_calls(), activity.cbid);
  if (call == nullptr) {
    ++unknown_[driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME];
    return;
  }
  OptionalNs start, end;
  if (!set_times(start, end, activity.start, activity.end)) {
    ++without_time_;
    return;
  }
  ApiRow row;
  row.process_id = target_.process_id;
  row.thread = activity.threadId;
  row.start_ns = *start;
  row.end_ns = *end;
  row.correlation = correlation(activity.correlationId);
  row.name_id = sink_.string(call->name);
  row.result = activity.returnValue;
  PendingCall pending{row, call->kernels};
  if (driver) {
    driver_calls_.insert_or_assign(activity.correlationId, pending);
  } else {
    // <<<>>> calls __cudaLaunchKernel, and that cudaLaunchKernel.
    if (runtime_correlations_.insert_or_assign(activity.correlationId, 0).second)
      add_settled(pending);
  }
}

void ActivityRows::add_settled(const PendingCall& call) {
  sink_.add(call.row);
  ++settled_;
  if (call.kernels) ++launch_count_;
}

std::size_t ActivityRows::settle_calls(bool all) {
  for (auto entry = driver_calls_.begin(); entry != driver_calls_.end();) {
    auto& [id, call] = *entry;
    const bool inner = runtime_correlations_.contains(id);
    if (!inner && !all && ++call.age < patience) {
      ++entry;
      continue;
    }
    if (!inner) add_settled(call);
    entry = driver_calls_.erase(entry);
  }
  for (auto entry = runtime_correlations_.begin(); entry != runtime_correlations_.end();)
    entry = all || ++entry->second > patience ? runtime_correlations_.erase(entry) : ++entry;
  return std::exchange(settled_, 0);
}

void ActivityRows::lose(const char* what, std::uint64_t count, const std::string& reason) {
  if (count == 0) return;
  LossRow loss;
  loss.process_id = target_.process_id;
  loss.collector = "timeline";
  loss.what = what;
  loss.count = static_cast<std::int64_t>(count);
  loss.reason = reason;
  sink_.add(loss);
}

void ActivityRows::report(std::uint64_t dropped) {
  lose("records", dropped, "CUPTI had no buffer for them: the writer was too slow");
  lose("copies and sets", std::exchange(without_device_, 0), "of a device that is not known");
  lose("times", std::exchange(without_time_, 0),
       "CUPTI gave no usable start and end; copies, sets and synchronizations have rows, calls "
       "and overheads have none");
  kernel_rows_.report({});
  for (const auto& [kind, count] : std::exchange(unknown_, {}))
    lose("records", count, fmt::format("of CUPTI's kind {}, which was not asked for", kind));
}

}  // namespace warpmeter
