// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/run.h"
#include "model/machine.h"

namespace warpmeter {

// One measured kernel beside what the model and the two baselines (model/baseline.h) say; times in
// s, null where a predictor has no answer.
struct ValidationRow {
  std::string id;
  std::string family;
  std::string split;  // "fit" or "held_out"
  std::string shape;  // shape_key, the unit of the bootstrap
  std::optional<double> measured;
  std::optional<double> model;
  std::optional<Interval> interval;  // of the model, for the measured time
  std::string bound;                 // as predicted
  std::optional<double> nameplate;
  std::optional<double> mean;
  std::string excluded;  // why the row does not count for the model; else empty
};

// How one predictor does on one group of rows. Errors are relative to the measured time:
// e = predicted / measured - 1.
struct Score {
  std::string predictor;  // "model", "nameplate", "mean"
  std::string split;
  std::string group;           // "all", "family", "bound"
  std::string name;            // of the family or bound, "" for all
  std::size_t rows = 0;        // with a usable measurement
  std::size_t n = 0;           // of these, predicted: what the errors below are of
  std::optional<double> mape;  // mean of |e|; these are null if n is 0
  std::optional<Interval>
      mape_interval;             // bootstrap over shapes, default_level; null below 2 shapes
  std::optional<double> median;  // of |e|
  std::optional<double> p90;     // of |e|
  std::optional<double> bias;    // mean of e: below zero is too fast
  std::optional<double> within;  // share of rows inside the predicted interval; model only

  std::optional<double> coverage() const;  // n / rows
};

struct Validation {
  std::vector<ValidationRow> rows;
  std::vector<Score> scores;
  std::vector<std::string> notes;  // what the baselines are made of
};

// Predicts each kernel.time row with a split of `kernels` and compares. Rows without a usable
// verdict are listed as excluded and count nowhere; rows without a prediction lower the coverage.
// By bound, rows are grouped as the model predicts them, for the baselines too. Scores come for
// held-out rows first, then for fitting rows.
Validation validate(const Machine& machine, const Run& kernels);

// The score of a group; null if there is none.
const Score* find_score(const Validation& validation, const std::string& predictor,
                        const std::string& split, const std::string& group,
                        const std::string& name = "");

Json to_json(const Validation& validation);
std::string format_table(const Validation& validation);

}  // namespace warpmeter
