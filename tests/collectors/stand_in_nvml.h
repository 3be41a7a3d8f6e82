// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the stand-in for libnvidia-ml.so.1 answers. Set before a thread that uses it starts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cuda/nvml_api.h"

namespace warpmeter {

struct StandInNvml {
  struct Field {
    int type = 3;
    double value = 0, step = 0;  // grows by `step` with each reading
    int status = 0;
    int readings = 0;
  };

  std::map<std::string, int> status;     // of a symbol; without entry: success
  std::map<unsigned int, Field> fields;  // others are not supported
  std::vector<std::string> uuids;        // the devices; a MIG instance's GPU is the first
  std::vector<unsigned int> sm_clocks{1000}, memory_clocks{2000};  // MHz, in turn
  std::vector<unsigned long long> reasons{0};                      // in turn
  unsigned int temperature = 0, power = 0, generation = 0, width = 0, links = 0;
  NvmlUtilization utilization{0, 0};
  bool gpm_supported = false;
  std::map<unsigned int, double> gpm;  // metrics; others are not supported
  int lost_after = -1;                 // readings of fields, of all devices

  // What it saw.
  std::map<std::string, int> calls;
  std::string gpm_device;  // UUID of the last GPM sample
  int gpm_allocated = 0;
  unsigned int gpm_steps = 0;  // samples between those of the last request
};

extern "C" StandInNvml* stand_in_nvml();

}  // namespace warpmeter
