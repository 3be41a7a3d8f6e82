// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectors/catalogue.h"
#include "collectors/cupti_api.h"
#include "collectors/cupti_host.h"
#include "collectors/host_session.h"

namespace warpmeter {

// Throws InputError if CUPTI does not plan PM sampling for this chip: it is never given another
// chip's name. `availability`: the device's image, which must outlive the session; empty to plan
// without a device.
std::unique_ptr<HostSession> open_pm_host(const CuptiApi& api, const std::string& chip,
                                          const std::vector<std::uint8_t>& availability);

struct PmCounter {
  const LogicalMetric* metric;
  std::string name;  // CUPTI's
};

struct PmRefusal {
  std::string id, why;
};

// What one pass of a chip's performance monitors samples at once.
struct PmPlan {
  std::vector<PmCounter> counters;
  std::vector<PmRefusal> refused;    // of the metrics asked for, each with one line
  std::vector<std::string> derived;  // ids that follow from the counters by the catalogue's formula
  std::vector<std::uint8_t> image;   // configuration

  std::vector<std::string> names() const;
};

// Each metric's first name that CUPTI schedules alone in one pass joins as long as all stay in one
// pass, in the catalogue's order: first come, first served, nothing is ever replayed. Throws
// InputError if nothing of it can be sampled.
PmPlan plan_pm(const CuptiApi& api, const std::string& chip,
               const std::vector<std::uint8_t>& availability, const Catalogue& catalogue,
               const std::vector<const LogicalMetric*>& asked);

}  // namespace warpmeter
