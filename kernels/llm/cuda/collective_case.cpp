// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/collective_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/stats.h"
#include "cuda/check.h"

namespace warpmeter {
namespace {

constexpr double most_executions = 400;  // what fits into the launch queue (bracket.h)

}  // namespace

CollectiveCase::CollectiveCase(const std::vector<Device>& devices, const Make& make,
                               const CollectiveLaunch& launch, BusBandwidth bus_bandwidth)
    : bus_bandwidth_(std::move(bus_bandwidth)) {
  std::vector<int> ordinals;
  std::vector<cudaStream_t> streams;
  for (const Device& device : devices) {
    const Session& session = *sessions_.emplace_back(std::make_unique<Session>(device));
    ordinals.push_back(session.ordinal());
    streams.push_back(session.stream());
    const DeviceGuard guard(session.ordinal());
    if (device.ordinal == devices[0].ordinal)
      fork_ = make_event();
    else
      joins_.push_back(make_event());
  }
  kernel_.emplace(make(), launch, ordinals, streams);
  kernel_->enqueue();
  kernel_->verify();
  empty_s_ = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 7; ++i) empty_s_ = std::min(empty_s_, fork_and_join(0));
  const double wanted = sessions_[0]->pace().sample_s / std::max(1e-9, fork_and_join(1) - empty_s_);
  executions_ = static_cast<int>(std::clamp(std::ceil(wanted), 1.0, most_executions));
}

double CollectiveCase::fork_and_join(int executions) {
  const DeviceGuard guard(sessions_[0]->ordinal());
  return sessions_[0]->bracket().time(sessions_[0]->stream(), [&](cudaStream_t stream) {
    GPU_CHECK(cudaEventRecord(fork_.get(), stream));
    for (std::size_t rank = 1; rank < sessions_.size(); ++rank)
      GPU_CHECK(cudaStreamWaitEvent(sessions_[rank]->stream(), fork_.get(), 0));
    for (int i = 0; i < executions; ++i) kernel_->enqueue();
    for (std::size_t rank = 1; rank < sessions_.size(); ++rank) {
      GPU_CHECK(cudaEventRecord(joins_[rank - 1].get(), sessions_[rank]->stream()));
      GPU_CHECK(cudaStreamWaitEvent(stream, joins_[rank - 1].get(), 0));
    }
  });
}

Sample CollectiveCase::sample() {
  const double elapsed_s = fork_and_join(executions_) - empty_s_;
  if (elapsed_s <= 0)
    throw std::runtime_error("the collective took no longer than a fork and join without it");
  times_s_.push_back(elapsed_s / executions_);
  return {times_s_.back(), elapsed_s};
}

Json CollectiveCase::conditions() const {
  Json json = sessions_[0]->conditions();
  json["implementation"] = "CUDA";
  json["checked_results"] = kernel_->problem().checked_results;
  json["executions_per_sample"] = executions_;
  json["empty_fork_and_join_s"] = empty_s_;
  if (const auto time_s = median(times_s_)) json["bus_bandwidth"] = bus_bandwidth_(*time_s);
  json.update(kernel_->conditions());
  for (std::size_t rank = 1; rank < sessions_.size(); ++rank)
    json["other_ranks"].push_back(sessions_[rank]->conditions());
  return json;
}

}  // namespace warpmeter
