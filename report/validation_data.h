// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/interval.h"
#include "core/json.h"

namespace warpmeter {

// One kernel: what was measured and what the model and the baselines said, in seconds.
struct PredictedKernel {
  std::string id;  // of the measurement
  std::string family;
  std::string split;  // "fit" or "held_out"
  std::string bound;  // the resource that the model holds responsible
  std::optional<double> measured_s, model_s, nameplate_s, mean_s;
  std::optional<Interval> interval;  // of model_s
  std::string excluded;              // why it does not count for the model, else ""

  bool drawable() const { return measured_s && model_s && *measured_s > 0 && *model_s > 0; }
};

// Errors of one predictor over a group of kernels, as ratios of the measured time.
struct ErrorScore {
  std::string predictor;  // "model", "nameplate", "mean"
  std::string split;
  std::string group;                                      // "all", "family", "bound"
  std::string name;                                       // of the family or bound, "" for all
  double rows = 0;                                        // with a measurement
  double n = 0;                                           // of these, predicted
  std::optional<double> mape, median, p90, bias, within;  // null for n = 0
  std::optional<Interval> mape_interval;
};

struct ValidationData {
  std::vector<PredictedKernel> kernels;
  std::vector<ErrorScore> scores;
  std::vector<std::string> notes;
};

// Reads what calibrator/validation.h writes (the report may not include the calibrator). Null gives
// an empty one. Throws InputError that names a missing or ill-typed key.
ValidationData validation_data(const Json& validation);

}  // namespace warpmeter
