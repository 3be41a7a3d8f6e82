// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "core/benchmark.h"
#include "cuda/session.h"
#include "kernels/micro/mma.h"
#include "microbench/cuda/fragments.h"
#include "microbench/cuda/load.h"

namespace warpmeter {

// Runs the tensor kernel on random bf16 operands; the products are checked against double precision
// before anything is timed.
class MmaRunner {
 public:
  MmaRunner(const Device& device, const Load& load);
  Session::Timed run();  // one timed launch of the scaled loop, in the load's phase

  const Session& session() const { return session_; }
  double ops() const;  // of one run
  std::uint32_t trips() const { return trips_; }
  int blocks() const { return blocks_; }

 private:
  void launch(cudaStream_t stream, std::uint32_t trips, Stamp* stamps) const;
  void verify();

  Session session_;
  Load load_;
  Phase phase_;
  int blocks_;
  MatrixA a_{};
  std::vector<MatrixB> b_;
  DeviceBuffer a_on_device_;
  DeviceBuffer b_on_device_;
  DeviceBuffer result_;
  std::uint32_t trips_ = 0;
};

}  // namespace warpmeter
