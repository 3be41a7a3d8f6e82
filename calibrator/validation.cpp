// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/validation.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "calibrator/overlap.h"
#include "core/stats.h"
#include "model/baseline.h"
#include "model/predict.h"

namespace warpmeter {
namespace {

constexpr int resamples = 1000;

ValidationRow row_of(const Machine& machine, const Measurement& m, const Nameplate& nameplate,
                     const std::map<std::string, double>& means) {
  ValidationRow row;
  row.id = m.id;
  row.family = word(m.parameters, "family").value_or("");
  row.split = word(m.parameters, "split").value_or("");
  row.shape = shape_key(m.parameters);
  if (!usable(m.verdict) || !m.value || !(*m.value > 0)) {
    row.excluded = fmt::format("verdict {}: {}", to_string(m.verdict), m.reason);
    return row;
  }
  row.measured = m.value;
  if (const auto mean = means.find(row.family); mean != means.end()) row.mean = mean->second;
  if (!m.work) {
    row.excluded = "no prediction: the record carries no work";
    return row;
  }
  row.nameplate = roofline_time(nameplate, *m.work, m.parameters);
  const Prediction prediction = predict(machine, *m.work, m.parameters);
  row.model = prediction.time_s;
  row.interval = prediction.interval;
  row.bound = prediction.bound;
  if (!prediction.time_s) row.excluded = "no prediction: " + prediction.reason;
  return row;
}

using Predictor = std::optional<double> ValidationRow::*;
constexpr std::pair<const char*, Predictor> predictors[] = {
    {"model", &ValidationRow::model},
    {"nameplate", &ValidationRow::nameplate},
    {"mean", &ValidationRow::mean}};

// Mean absolute error with whole shapes drawn again and again.
std::optional<Interval> mape_interval(const std::map<std::string, std::vector<double>>& by_shape) {
  if (by_shape.size() < 2) return std::nullopt;
  std::vector<const std::vector<double>*> shapes;
  for (const auto& [shape, errors] : by_shape) shapes.push_back(&errors);
  std::mt19937_64 random(1);
  std::vector<double> means;
  for (int k = 0; k < resamples; ++k) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      for (const double error : *shapes[random() % shapes.size()]) {
        sum += std::abs(error);
        count += 1;
      }
    }
    means.push_back(sum / count);
  }
  return Interval{*quantile(means, (1 - default_level) / 2),
                  *quantile(means, (1 + default_level) / 2)};
}

Score score_of(const std::vector<const ValidationRow*>& rows, const char* name,
               Predictor predictor) {
  Score score;
  score.predictor = name;
  score.rows = rows.size();
  std::vector<double> sizes;
  std::map<std::string, std::vector<double>> by_shape;
  double sum = 0, sum_of_sizes = 0, inside = 0, with_interval = 0;
  for (const ValidationRow* row : rows) {
    const std::optional<double>& predicted = row->*predictor;
    if (!predicted) continue;
    const double error = *predicted / *row->measured - 1;
    sizes.push_back(std::abs(error));
    by_shape[row->shape].push_back(error);
    sum += error;
    sum_of_sizes += std::abs(error);
    if (predictor == &ValidationRow::model && row->interval) {
      with_interval += 1;
      inside += row->interval->lo <= *row->measured && *row->measured <= row->interval->hi;
    }
  }
  score.n = sizes.size();
  if (score.n == 0) return score;
  const auto n = static_cast<double>(score.n);
  score.mape = sum_of_sizes / n;
  score.bias = sum / n;
  score.median = median(sizes);
  score.p90 = quantile(sizes, 0.9);
  score.mape_interval = mape_interval(by_shape);
  if (with_interval > 0) score.within = inside / with_interval;
  return score;
}

using Groups = std::map<std::pair<std::string, std::string>, std::vector<const ValidationRow*>>;

// ("all", "") sorts before ("bound", ...) and ("family", ...).
Groups groups_of(const std::vector<ValidationRow>& rows, const std::string& split) {
  Groups groups;
  for (const ValidationRow& row : rows) {
    if (row.split != split || !row.measured) continue;
    groups[{"all", ""}].push_back(&row);
    groups[{"family", row.family}].push_back(&row);
    if (!row.bound.empty()) groups[{"bound", row.bound}].push_back(&row);
  }
  return groups;
}

}  // namespace

std::optional<double> Score::coverage() const {
  if (rows == 0) return std::nullopt;
  return static_cast<double>(n) / static_cast<double>(rows);
}

Validation validate(const Machine& machine, const Run& kernels) {
  Validation validation;
  const Nameplate nameplate = nameplate_of(machine);
  const std::map<std::string, double> means = mean_times(kernels);
  validation.notes = nameplate.notes;
  validation.notes.push_back(
      "mean: geometric mean of the family's fitting rows, all shapes, threads, types and "
      "residencies");
  for (const Measurement* m : with_quantity(kernels, "kernel.time")) {
    if (!word(m->parameters, "split")) continue;
    validation.rows.push_back(row_of(machine, *m, nameplate, means));
  }
  for (const std::string split : {"held_out", "fit"}) {
    for (const auto& [group, rows] : groups_of(validation.rows, split)) {
      for (const auto& [name, predictor] : predictors) {
        Score score = score_of(rows, name, predictor);
        score.split = split;
        score.group = group.first;
        score.name = group.second;
        validation.scores.push_back(std::move(score));
      }
    }
  }
  return validation;
}

const Score* find_score(const Validation& validation, const std::string& predictor,
                        const std::string& split, const std::string& group,
                        const std::string& name) {
  for (const Score& score : validation.scores) {
    if (score.predictor == predictor && score.split == split && score.group == group &&
        score.name == name) {
      return &score;
    }
  }
  return nullptr;
}

}  // namespace warpmeter
