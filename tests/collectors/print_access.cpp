// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the driver gate and NVML say in a process of its own, as JSON.
#include <cstdio>

#include "collectors/access.h"
#include "core/json.h"

int main() {
  using warpmeter::Json;
  const warpmeter::AccessReadings r = warpmeter::read_access(warpmeter::pass_driver_gate());
  Json devices = Json::array();
  for (const warpmeter::TargetDevice& device : r.driver.devices)
    devices.push_back({{"name", device.name},
                       {"uuid", device.uuid},
                       {"major", device.major},
                       {"minor", device.minor},
                       {"multiprocessors", device.multiprocessors}});
  const Json all{{"why", r.driver.why},
                 {"version", r.driver.version},
                 {"path", r.driver.path},
                 {"devices", devices},
                 {"nvml", r.nvml_why},
                 {"cupti", r.cupti},
                 {"cupti_why", r.cupti_why},
                 {"cupti_version", r.cupti_version},
                 {"processes", r.processes.size()},
                 {"user", r.user},
                 {"kernel", r.kernel},
                 {"maps", !r.maps.empty()},
                 {"status", !r.process_status.empty()}};
  std::puts(all.dump().c_str());
}
