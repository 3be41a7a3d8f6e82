// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/device.h"

namespace warpmeter {

// One launch whose work follows from its arguments, for checks of counters.
struct KnownLaunch {
  std::string kernel;                  // "read"
  std::map<std::string, double> work;  // by id of the metric catalogue, in the metric's unit
  std::function<void()> prepare;       // caches and memory as `work` takes them to be
  std::function<void()> launch;
};

// Launches of the kernels of bandwidth.read, bandwidth.write, throughput.fma and throughput.mma,
// each in two sizes of work. Calls enqueue only.
//
// Bytes of DRAM and sectors of L2 by the formulas of kernels/micro/stream.h, with sets of at least
// 4 and 8 times L2 (dram_footprint). The read finds L2 clean and cold. The write finds in L2 what
// the same write left there, so that what it leaves unwritten equals what it writes for the one
// before. Instructions by the formulas of kernels/micro/fma.h and mma.h; those outside the loop are
// at most 1 % of the smaller size.
class KnownWorkKernels {
 public:
  explicit KnownWorkKernels(const Device& device);  // Throws CudaError, or InputError if too small.
  ~KnownWorkKernels();
  const std::vector<KnownLaunch>& launches() const { return launches_; }
  void synchronize() const;

 private:
  struct Memory;
  void add_streams(const Device& device);
  void add_instructions();

  std::unique_ptr<Memory> memory_;
  std::vector<KnownLaunch> launches_;
};

}  // namespace warpmeter
