// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/validation_data.h"

#include "core/error.h"

namespace warpmeter {

namespace {

constexpr std::string_view where = "validation";

std::optional<double> number_or_null(const Json& object, const char* key) {
  if (require(object, key, where).is_null()) return std::nullopt;
  return require_number(object, key, where);
}

std::optional<Interval> interval_or_null(const Json& object, const char* key) {
  const Json& pair = require(object, key, where);
  if (pair.is_null()) return std::nullopt;
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) {
    throw InputError(std::string(where) + ": \"" + key + "\" must be null or two numbers");
  }
  return Interval{pair[0].get<double>(), pair[1].get<double>()};
}

const Json& require_array(const Json& object, const char* key) {
  const Json& array = require(object, key, where);
  if (!array.is_array()) throw InputError(std::string(where) + ": \"" + key + "\" must be a list");
  return array;
}

PredictedKernel kernel_of(const Json& entry) {
  PredictedKernel kernel;
  kernel.id = require_string(entry, "id", where);
  kernel.family = require_string(entry, "family", where);
  kernel.split = require_string(entry, "split", where);
  kernel.bound = require_string(entry, "bound", where);
  kernel.measured_s = number_or_null(entry, "measured");
  kernel.model_s = number_or_null(entry, "model");
  kernel.nameplate_s = number_or_null(entry, "nameplate");
  kernel.mean_s = number_or_null(entry, "mean");
  kernel.interval = interval_or_null(entry, "interval");
  kernel.excluded = require_string(entry, "excluded", where);
  return kernel;
}

ErrorScore score_of(const Json& entry) {
  ErrorScore score;
  score.predictor = require_string(entry, "predictor", where);
  score.split = require_string(entry, "split", where);
  score.group = require_string(entry, "group", where);
  score.name = require_string(entry, "name", where);
  score.rows = require_number(entry, "rows", where);
  score.n = require_number(entry, "n", where);
  score.mape = number_or_null(entry, "mape");
  score.median = number_or_null(entry, "median");
  score.p90 = number_or_null(entry, "p90");
  score.bias = number_or_null(entry, "bias");
  score.within = number_or_null(entry, "within");
  score.mape_interval = interval_or_null(entry, "mape_interval");
  return score;
}

}  // namespace

ValidationData validation_data(const Json& validation) {
  ValidationData out;
  if (validation.is_null()) return out;
  for (const Json& entry : require_array(validation, "rows")) {
    out.kernels.push_back(kernel_of(entry));
  }
  for (const Json& entry : require_array(validation, "scores")) {
    out.scores.push_back(score_of(entry));
  }
  for (const Json& note : require_array(validation, "notes")) {
    if (!note.is_string()) throw InputError("validation: \"notes\" must hold strings");
    out.notes.push_back(note.get<std::string>());
  }
  return out;
}

}  // namespace warpmeter
