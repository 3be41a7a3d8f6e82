// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrator/points.h"
#include "model/machine.h"

namespace warpmeter {

// A machine in the making. Parameters that were estimated from the same campaigns carry the
// estimate of each campaign, paired by number, so that their covariance can be had in the end.
struct Draft {
  Machine machine;
  Status status = Status::measured;  // of what is measured: `published`, `emulated` for such runs
  struct Shared {
    std::string data;  // which data: parameters with the same text have a covariance
    std::vector<double> replicates;
  };
  std::map<std::string, Shared> shared;
};

// A parameter with the median of the campaigns' estimates as value and their bootstrap interval.
// Not identifiable, with `reason`, if there are no estimates.
Parameter from_replicates(const Draft& draft, Unit unit, const std::vector<double>& replicates,
                          std::string method, const Points& evidence, std::string reason = "");

// One measurement's value and interval as they are.
Parameter from_measurement(const Draft& draft, const Measurement& measurement, std::string reason);

// A parameter without value.
Parameter unknown(Unit unit, Status status, std::string reason);

// Bootstrap over campaigns, drawn jointly, for all parameters that share data; fills
// machine.covariance. Parameters of different data are independent: 0.
void add_covariance(Draft& draft, int resamples = 1000);

}  // namespace warpmeter
