// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "collectors/access.h"

namespace warpmeter {

// A Hopper GPU on which everything is allowed.
inline AccessReadings good() {
  AccessReadings r;
  r.driver.version = 13000;
  r.driver.path = "/usr/lib/libcuda.so.1";
  r.driver.devices.resize(1);
  r.driver.devices[0].name = "Planted GPU";
  r.driver.devices[0].uuid = "GPU-1";
  r.driver_parameters = "ModifyDeviceFiles: 1\nRmProfilingAdminOnly: 0\nEnableMSI: 1\n";
  r.process_status = "Name:\tx\nCapEff:\t0000000000000000\n";
  r.user_map = "         0          0 4294967295\n";
  r.user = 1000;
  r.kernel = "6.1.0\n";
  r.maps = "7f0-7f1 r-xp 00000000 08:01 1   /opt/cuda/lib64/libcupti.so.2025.3.1\n";
  r.cupti = "/opt/cuda/lib64/libcupti.so.13";
  r.cupti_version = 130001;
  r.gpus = {{"GPU-1", false, true, "none"}};
  r.confidential = false;
  return r;
}

}  // namespace warpmeter
