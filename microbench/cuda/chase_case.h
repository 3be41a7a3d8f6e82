// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/benchmark.h"
#include "cuda/residency.h"
#include "cuda/session.h"
#include "kernels/micro/chase.h"
#include "microbench/cuda/ring.h"

namespace warpmeter {

// What is chased, and from where.
struct ChasePlan {
  Ring ring;
  LoadPath path = LoadPath::cg;
  int memory_of = 0;  // ordinal of the device that owns the memory
  // Cold: L2 is flushed by reads before each sample, for a ring that it cannot hold. Hot: the
  // whole ring is chased before the first sample.
  bool cold = false;
  Json conditions = Json::object();  // what the row says of itself
};

// A chase through global memory, each sample from another SM, continuing round the ring where the
// last one stopped. One sample is the time per hop by %globaltimer around the loop.
class ChaseCase : public Case {
 public:
  ChaseCase(const Device& device, ChasePlan plan);
  Sample sample() override;
  Json conditions() const override;

 private:
  struct Hops {
    ClockReading clock;
    double event_s = 0;
  };
  void link_lines();
  void warm();
  std::optional<Hops> try_hops(std::uint32_t trips, int sm);
  Hops hop(std::uint32_t trips);  // on the next SM; checks where it ends

  Session session_;
  ChasePlan plan_;
  std::vector<int> sms_;
  std::size_t turn_ = 0;
  int missed_ = 0;  // samples that had to run on any SM
  std::uint32_t at_ = 0;
  std::uint32_t trips_ = 0;
  double resolution_s_ = 0;
  std::vector<double> cycles_per_hop_;
  std::vector<double> event_per_hop_s_;
  DeviceBuffer lines_;
  DeviceBuffer claim_;
  DeviceBuffer finish_;
  std::optional<L2Flush> flush_;
};

}  // namespace warpmeter
