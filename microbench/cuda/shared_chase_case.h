// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"
#include "cuda/session.h"

namespace warpmeter {

// The chase through one block's shared memory.
class SharedChaseCase : public Case {
 public:
  SharedChaseCase(const Device& device, double footprint);
  Sample sample() override;
  Json conditions() const override;

 private:
  Session::Timed hop(std::uint32_t trips);

  Session session_;
  std::vector<std::uint32_t> next_;
  DeviceBuffer successors_;
  DeviceBuffer finish_;
  std::uint32_t trips_ = 0;
  std::vector<double> cycles_per_hop_;
};

}  // namespace warpmeter
