// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/benchmark.h"
#include "cuda/session.h"
#include "kernels/llm/cuda/collective_kernel.h"

namespace warpmeter {

// One campaign of a collective on several GPUs, rank i on devices[i]. The constructor gets all
// devices out of idle, uploads fresh data, executes and verifies, then finds how many executions
// fill a sample.
class CollectiveCase : public Case {
 public:
  using Make = std::function<CollectiveProblem()>;
  // Bus bandwidth in B/s of an execution that takes `seconds`.
  using BusBandwidth = std::function<double(double seconds)>;
  CollectiveCase(const std::vector<Device>& devices, const Make& make,
                 const CollectiveLaunch& launch, BusBandwidth bus_bandwidth);

  // The mean of as many executions as fill a sample, queued behind one another in a stream of each
  // device: from an event that all devices wait for to the end of the slowest one, seen by rank 0,
  // without the time of such a fork and join with nothing between.
  Sample sample() override;
  Json conditions() const override;

 private:
  double fork_and_join(int executions);  // s

  std::vector<std::unique_ptr<Session>> sessions_;
  std::optional<CollectiveKernel> kernel_;
  BusBandwidth bus_bandwidth_;
  Event fork_;
  std::vector<Event> joins_;  // of ranks 1, 2, ...
  double empty_s_ = 0;
  int executions_ = 1;
  std::vector<double> times_s_;
};

}  // namespace warpmeter
