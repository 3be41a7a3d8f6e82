// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/activity_collector.h"

#include <fmt/format.h>

#include "collectors/clock.h"
#include "collectors/cupti_error.h"
#include "collectors/launch_calls.h"

namespace warpmeter {
namespace {

struct Kind {
  CUpti_ActivityKind kind;
  const char* name;
  bool needed;
};

// CONCURRENT_KERNEL alone: with KERNEL beside it, records come twice and without times.
constexpr Kind kinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels", true},
    {CUPTI_ACTIVITY_KIND_MEMCPY, "copies", true},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices", false},
    {CUPTI_ACTIVITY_KIND_MEMSET, "sets", true},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronizations", false},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead", false},
};

std::uint64_t CUPTIAPI timestamp() { return static_cast<std::uint64_t>(monotonic_ns()); }

}  // namespace

ActivityCollector::ActivityCollector(const CuptiApi& cupti, Subscription& subscription,
                                     const ActivityOptions& options)
    : cupti_(cupti),
      subscription_(subscription),
      options_(options),
      buffers_(cupti, options.memory_bytes / options.buffer_bytes, options.buffer_bytes),
      graph_nodes_(cupti, subscription) {
  check_cupti(cupti_.cuptiActivityRegisterTimestampCallback(timestamp), "timeline",
              "cuptiActivityRegisterTimestampCallback");
  // The thread ids of calls are then those of NVTX ranges.
  check_cupti(cupti_.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), "timeline",
              "cuptiSetThreadIdType");
  buffers_.attach();
}

void ActivityCollector::set_target(const Target& target) {
  target_ = target;
  target_.cupti = &cupti_;
}

void ActivityCollector::arm() {
  refused_.clear();
  graph_nodes_.enable(subscription_, true);
  for (const Kind& kind : kinds) {
    const CUptiResult result = cupti_.cuptiActivityEnable(kind.kind);
    if (result == CUPTI_SUCCESS) continue;
    if (kind.needed) {
      disarm();
      check_cupti(result, "timeline", fmt::format("cuptiActivityEnable ({})", kind.name).c_str());
    }
    refused_.push_back(fmt::format("{}: {}", kind.name, describe_cupti_error(result)));
  }
  if (calls_) enable_calls(true);
  armed_ = true;
}

void ActivityCollector::enable_calls(bool on) {
  CUptiResult refusal = CUPTI_SUCCESS;
  const auto note = [&](CUptiResult result) {
    if (result != CUPTI_SUCCESS) refusal = result;
  };
  for (const LaunchCall& call : runtime_launch_calls())
    note(cupti_.cuptiActivityEnableRuntimeApi(call.id, on ? 1 : 0));
  for (const LaunchCall& call : driver_launch_calls())
    note(cupti_.cuptiActivityEnableDriverApi(call.id, on ? 1 : 0));
  if (refusal != CUPTI_SUCCESS && on)
    refused_.push_back(fmt::format("some calls: {}", describe_cupti_error(refusal)));
}

void ActivityCollector::disarm() noexcept {
  armed_ = false;
  // Nodes of graphs are still noted: a graph that is captured now may run when we are armed again.
  try {
    enable_calls(false);
  } catch (...) {  // no memory for a note
  }
  for (const Kind& kind : kinds) cupti_.cuptiActivityDisable(kind.kind);
  flush(false);
}

void ActivityCollector::shed_calls() {
  calls_ = false;
  enable_calls(false);
}

void ActivityCollector::flush(bool last) noexcept {
  cupti_.cuptiActivityFlushAll(last ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

std::size_t ActivityCollector::drain(RowSink& sink) {
  if (!rows_) rows_ = std::make_unique<ActivityRows>(target_, sink);
  // Buffers come by themselves only when they are full, and what is in CUPTI dies with the process.
  if (armed_) flush(false);
  std::size_t rows = graph_nodes_.drain(sink, target_.process_id);
  while (const auto filled = buffers_.take()) {
    rows += rows_->add(filled->data, filled->bytes);
    buffers_.release(*filled);
  }
  rows += rows_->settle_calls(closed_);
  rows_->report(buffers_.take_dropped());
  return rows;
}

Json ActivityCollector::describe() const {
  Json json = Json::object();
  json["buffer_bytes"] = options_.buffer_bytes;
  json["memory_limit_bytes"] = options_.memory_bytes;
  json["memory_used_bytes"] = buffers_.allocated_bytes();
  json["kernels"] = kernels();
  json["kernel_launches"] = launches();
  json["refused"] = refused_;
  json["overhead_s"] = Json::object();
  if (rows_)
    for (const auto& [kind, ns] : rows_->overhead_ns())
      json["overhead_s"][kind] = 1e-9 * static_cast<double>(ns);
  return json;
}

}  // namespace warpmeter
