// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/measurement.h"
#include "core/work.h"
#include "model/machine.h"

namespace warpmeter {

// The predicted time of one kernel execution, or why there is none.
struct Prediction {
  std::optional<double> time_s;
  std::optional<Interval> interval;  // s, for a new measurement, at default_level
  // Parts of the time, they sum to one: "launch", "overhead", and each resource by its share of the
  // p-norm, t_r^p / sum of t^p.
  std::map<std::string, double> shares;
  std::string bound;                 // the name with the largest share
  std::vector<std::string> missing;  // what the machine lacks; then there is no time
  std::string reason;                // why there is no time, or no interval
};

// time = launches (launch + model.overhead.<family>)
//        + (1 + model.overhead.<family>.share) (sum over resources of t_r^p)^(1/p)
// with p = model.overlap.<family>, else model.overlap, and t_r from demand_of. Nothing is assumed
// for a parameter without a value: then there is no prediction, but a reason. One exception: a
// fixed overhead that is `not_identifiable` beside a known share was left out of that family's fit
// (calibrator/overlap.h), so it is left out here too.
//
// The interval joins two independent parts, in logarithms: the errors of the parameters, linear in
// their covariance (from the intervals where the machine gives no covariance), and the model's
// discrepancy, the quantiles of log(measured/predicted) that fit_overlap stored as
// model.discrepancy.<family>. Without that there is a time, but no interval.
Prediction predict(const Machine& machine, const Work& work, const Parameters& parameters);

}  // namespace warpmeter
