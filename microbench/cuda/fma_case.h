// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"
#include "cuda/session.h"
#include "kernels/micro/fma.h"
#include "microbench/cuda/load.h"

namespace warpmeter {

// Runs the f32 multiply-add kernels: the one chain (latency) and the many (throughput). Checked to
// the bit against the host's fma before anything is timed.
class FmaRunner {
 public:
  enum class Kernel { chain, throughput };
  FmaRunner(const Device& device, Kernel kernel, const Load& load);

  // One timed launch of the scaled loop, in the load's phase.
  Session::Timed run();

  Session& session() { return session_; }
  const Session& session() const { return session_; }
  std::uint32_t trips() const { return trips_; }
  int blocks() const { return blocks_; }

 private:
  void launch(cudaStream_t stream, std::uint32_t trips, Stamp* stamps) const;
  void verify();

  Session session_;
  Kernel kernel_;
  Load load_;
  Phase phase_;
  int blocks_;
  std::vector<float> start_;
  DeviceBuffer start_on_device_;
  DeviceBuffer result_;
  std::uint32_t trips_ = 0;
};

}  // namespace warpmeter
