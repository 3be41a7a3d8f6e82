// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "core/run.h"
#include "model/machine.h"

namespace warpmeter {

struct OverlapSettings {
  int resamples = 200;  // of the bootstrap behind the intervals
  std::uint64_t seed = 1;
};

// Fits what the time model (model/predict.h) cannot take from microbenchmarks, on measurements of
// kernel.time with parameter split=fit, a usable verdict and complete ceilings; held-out rows are
// never read. Least squares of log(predicted/measured) under Huber's loss (Ceres), residuals
// whitened by their family's scatter. Replaces these parameters of `machine`:
//
//   model.overlap                     p of the p-norm, 1 to 64
//   model.overhead.<family>           s per launch, not negative
//   model.overhead.<family>.share     of the p-norm
//   model.discrepancy.<family>        standard deviation of log(measured/predicted), with its
//                                     quantiles at default_level for a new shape as distribution
//
// and their rows in machine.covariance. Intervals come from a bootstrap over shapes (all rows of a
// shape together, within each family). A parameter along which the fit is flat (singular values of
// the scaled Jacobian) is `not_identifiable`; a fixed overhead that cannot be told from its share
// is left out of that family's model, and predict leaves it out too. With no rows the parameters
// are `not_measured`, with the reason.
void fit_overlap(Machine& machine, const Run& kernels, const OverlapSettings& settings = {});

// Rows that share a key are one shape: same family, kernel, model and dimensions, whatever threads,
// type and residency.
std::string shape_key(const Parameters& parameters);

}  // namespace warpmeter
