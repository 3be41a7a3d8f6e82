// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "collectors/collector.h"

namespace warpmeter {

// What the CUDA driver of this process says.
struct DriverGate {
  std::string why;   // empty if the gate is passed; else one line with the remedy
  int version = 0;   // of CUDA, as cuDriverGetVersion: 13000 is 13.0; 0 if it did not say
  std::string path;  // of the library; empty without one
  std::vector<TargetDevice> devices;  // by ordinal, with row_id 0 and no chip

  bool passed() const { return why.empty(); }
};

// Opens libcuda.so.1 (the loader gives the copy that is already in the process, if there is one)
// and calls cuInit. Must have passed before any call of CUPTI on the target side: without a driver
// some of those end the process. Never throws. A process that has called it cannot fork for CUDA.
DriverGate pass_driver_gate();

}  // namespace warpmeter
