// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/overlap_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/stats.h"

namespace warpmeter {
namespace {

constexpr double normal_degrees = 1e6;  // Student's t is then the normal distribution

// Percentiles, widened about the estimate for `shapes` shapes and `used` unknowns as
// bootstrap_interval in core/stats.h does; null if no degree of freedom is left.
std::optional<Interval> widened(const std::vector<double>& refits, double estimate, double shapes,
                                double used) {
  if (shapes - used < 1 || refits.empty()) return std::nullopt;
  const double widen = std::sqrt(shapes / (shapes - used)) *
                       student_t(default_level, shapes - used) /
                       student_t(default_level, normal_degrees);
  const double lo = *quantile(refits, (1 - default_level) / 2);
  const double hi = *quantile(refits, (1 + default_level) / 2);
  return Interval{estimate - std::max(estimate - lo, 0.0) * widen,
                  estimate + std::max(hi - estimate, 0.0) * widen};
}

Parameter absent(Unit unit, Status status, std::string reason) {
  Parameter parameter;
  parameter.unit = unit;
  parameter.status = status;
  parameter.reason = std::move(reason);
  return parameter;
}

Parameter present(Status status, double value, Unit unit, std::optional<Interval> interval,
                  std::string method, std::vector<std::string> evidence) {
  Parameter parameter;
  parameter.value = value;
  parameter.unit = unit;
  parameter.interval = interval;
  parameter.status = status;
  parameter.method = std::move(method);
  parameter.evidence = std::move(evidence);
  if (!interval) parameter.reason = "too few shapes for an interval";
  return parameter;
}

// Writes one fit into a machine.
class Recorder {
 public:
  Recorder(Machine& machine, const OverlapData& data, const OverlapResult& result)
      : machine_(machine),
        data_(data),
        unknowns_(result.unknowns),
        fixed_(result.fixed),
        refits_(result.refits) {}

  void overlap() {
    if (fixed_.contains(0)) {
      machine_.parameters["model.overlap"] =
          absent(Unit::one, Status::not_identifiable,
                 "no fitting row changes with it: each has a single resource");
      return;
    }
    std::vector<std::string> evidence;
    double shapes = 0, used = 1;
    for (std::size_t f = 0; f < data_.families.size(); ++f) {
      evidence.insert(evidence.end(), data_.evidence[f].begin(), data_.evidence[f].end());
      shapes += static_cast<double>(data_.shapes[f].size());
      used += unknowns_of(unknowns_, f);
    }
    std::optional<Interval> inverse = widened(refits_[0], unknowns_.value[0], shapes, used);
    if (inverse) {
      inverse = Interval{1 / std::clamp(inverse->hi, 1 / max_overlap, 1.0),
                         1 / std::clamp(inverse->lo, 1 / max_overlap, 1.0)};
    }
    Parameter parameter = present(
        status(), 1 / unknowns_.value[0], Unit::one, inverse,
        "exponent of the p-norm of resource times, robust least squares of log times over all "
        "families; interval from a bootstrap over shapes",
        std::move(evidence));
    if (at_bound(unknowns_, 0)) {
      parameter.reason =
          fmt::format("at its bound {:.0f}: the kernels show {}", 1 / unknowns_.value[0],
                      unknowns_.value[0] > 0.5 ? "no overlap" : "full overlap");
    }
    machine_.parameters["model.overlap"] = std::move(parameter);
  }

  void family(std::size_t f, double sigma) {
    const std::string name = "model.overhead." + data_.families[f];
    machine_.parameters[name] = unknown(f, overhead_at(f), Unit::second, microsecond, 0,
                                        "fixed time per launch beside the launch itself");
    machine_.parameters[name + ".share"] =
        unknown(f, share_at(f), Unit::one, 1, -1, "time beyond the p-norm of the ceilings");
    machine_.parameters["model.discrepancy." + data_.families[f]] = discrepancy(f, sigma);
  }

  // Rows of the fitted unknowns in the units of their parameters: 1/p and microseconds converted.
  void covariance(const OverlapCovariance& fitted) {
    if (fitted.unknowns.empty()) return;
    Covariance& all = machine_.covariance;
    const std::size_t old = all.names.size();
    for (auto& row : all.matrix) row.resize(old + fitted.unknowns.size(), 0.0);
    for (std::size_t i = 0; i < fitted.unknowns.size(); ++i) {
      all.names.push_back(name_of(fitted.unknowns[i]));
      all.matrix.emplace_back(old, 0.0);
      for (std::size_t j = 0; j < fitted.unknowns.size(); ++j) {
        const double both = (fitted.matrix[i][j] + fitted.matrix[j][i]) / 2;
        all.matrix.back().push_back(both * slope(fitted.unknowns[i]) * slope(fitted.unknowns[j]));
      }
    }
  }

 private:
  Status status() const {
    return machine_.source == Source::emulated ? Status::emulated : Status::derived;
  }

  std::string name_of(std::size_t index) const {
    if (index == 0) return "model.overlap";
    const std::string name = "model.overhead." + data_.families[(index - 1) / 2];
    return index % 2 == 1 ? name : name + ".share";
  }

  // d parameter / d unknown
  double slope(std::size_t index) const {
    if (index == 0) return -1 / (unknowns_.value[0] * unknowns_.value[0]);
    return index % 2 == 1 ? microsecond : 1.0;
  }

  Parameter unknown(std::size_t f, std::size_t index, Unit unit, double factor, double floor,
                    const std::string& what) const {
    if (fixed_.contains(index)) {
      return absent(unit, Status::not_identifiable,
                    index % 2 == 1 ? fmt::format("{} shapes cannot tell it from the share, which "
                                                 "holds the whole overhead",
                                                 data_.shapes[f].size())
                                   : "no fitting row changes with it");
    }
    const double value = unknowns_.value[index];
    std::optional<Interval> interval =
        widened(refits_[index], value, static_cast<double>(data_.shapes[f].size()),
                unknowns_of(unknowns_, f));
    if (interval) {
      interval = Interval{std::max(interval->lo, floor) * factor, interval->hi * factor};
    }
    Parameter parameter =
        present(status(), value * factor, unit, interval,
                what + ", robust least squares of log times; interval from a bootstrap over shapes",
                data_.evidence[f]);
    if (interval && index % 2 == 0 && interval->hi < 0) {
      parameter.reason = "below zero: these kernels beat the measured ceilings";
    }
    return parameter;
  }

  Parameter discrepancy(std::size_t f, double sigma) const {
    const double degrees = degrees_of(data_, unknowns_, f);
    const double shapes = static_cast<double>(data_.shapes[f].size());
    // A new shape adds its own scatter to the mean uncertainty of the fitted line.
    const double spread = student_t(default_level, degrees) * sigma *
                          std::sqrt(1 + unknowns_of(unknowns_, f) / shapes);
    Parameter parameter = present(
        status(), sigma, Unit::one, std::nullopt,
        fmt::format(
            "standard deviation of log(measured/predicted) over {} shapes, with the scatter "
            "of all families weighing as {} shapes more; quantiles for a new shape from "
            "Student's t with {} degrees of freedom",
            data_.shapes[f].size(), prior_degrees, degrees),
        data_.evidence[f]);
    parameter.reason = "a scatter, given without interval";
    parameter.distribution = Json{{"quantiles", {{"0.05", -spread}, {"0.95", spread}}}};
    return parameter;
  }

  Machine& machine_;
  const OverlapData& data_;
  const OverlapUnknowns& unknowns_;
  const std::set<std::size_t>& fixed_;
  const std::vector<std::vector<double>>& refits_;
};

}  // namespace

double unknowns_of(const OverlapUnknowns& unknowns, std::size_t family) {
  return (unknowns.free[overhead_at(family)] ? 1.0 : 0.0) +
         (unknowns.free[share_at(family)] ? 1.0 : 0.0);
}

double degrees_of(const OverlapData& data, const OverlapUnknowns& unknowns, std::size_t family) {
  const auto shapes = static_cast<double>(data.shapes[family].size());
  return std::max(shapes - unknowns_of(unknowns, family), 0.0) + prior_degrees;
}

void forget_overlap(Machine& machine) {
  const auto ours = [](const std::string& name) {
    return name.starts_with("model.overlap") || name.starts_with("model.overhead") ||
           name.starts_with("model.discrepancy");
  };
  std::erase_if(machine.parameters, [&](const auto& item) { return ours(item.first); });
  Covariance kept;
  for (std::size_t i = 0; i < machine.covariance.names.size(); ++i) {
    if (ours(machine.covariance.names[i])) continue;
    kept.names.push_back(machine.covariance.names[i]);
    kept.matrix.emplace_back();
    for (std::size_t j = 0; j < machine.covariance.names.size(); ++j) {
      if (!ours(machine.covariance.names[j])) {
        kept.matrix.back().push_back(machine.covariance.matrix[i][j]);
      }
    }
  }
  machine.covariance = std::move(kept);
}

void record_overlap(Machine& machine, const OverlapData& data, const OverlapResult& result) {
  Recorder recorder(machine, data, result);
  recorder.overlap();
  for (std::size_t f = 0; f < data.families.size(); ++f) recorder.family(f, result.sigma[f]);
  recorder.covariance(result.covariance);
}

void record_missing(Machine& machine, const OverlapData& data) {
  for (const auto& [family, names] : data.missing) {
    if (machine.parameters.contains("model.overhead." + family)) continue;
    const std::string reason =
        fmt::format("no fitting row has all its ceilings; missing: {}", fmt::join(names, ", "));
    machine.parameters["model.overhead." + family] =
        absent(Unit::second, Status::not_measured, reason);
    machine.parameters["model.overhead." + family + ".share"] =
        absent(Unit::one, Status::not_measured, reason);
  }
  if (data.rows.empty()) {
    machine.parameters["model.overlap"] =
        absent(Unit::one, Status::not_measured,
               "no usable kernel.time with split=fit and all its ceilings");
  }
}

}  // namespace warpmeter
