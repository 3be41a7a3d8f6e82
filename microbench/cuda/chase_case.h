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
#include "kernels/micro/chase.h"
#include "microbench/cuda/session.h"

namespace warpmeter {

inline constexpr std::uint32_t chase_stride = 128;  // B; a line of L1 and L2 since Volta

// What is chased, and from where.
struct ChasePlan {
  double footprint = 0;  // B, a multiple of chase_stride
  LoadPath path = LoadPath::cg;
  std::string order = "random";  // or "paged": random only inside 2 MiB, pages in order
  int memory_of = 0;             // ordinal of the device that owns the memory
};

// A chase through global memory, each sample from another SM, continuing round the ring where the
// last one stopped. One sample is the time per hop by %globaltimer around the loop.
class ChaseCase : public Case {
 public:
  ChaseCase(const Device& device, const ChasePlan& plan);
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
  std::vector<std::uint32_t> next_;
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
