// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/overlap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "calibrator/overlap_fit.h"
#include "core/stats.h"
#include "model/resources.h"

namespace warpmeter {
namespace {

constexpr double normal_degrees = 1e6;  // Student's t is then the normal distribution
// Scatter of a family with few rows leans on the scatter of all, as strongly as these many rows.
constexpr double prior_degrees = 2;
constexpr double min_scale = 0.005;  // no kernel's time is repeatable to better than half a percent

// The fitting rows with what must be known about them.
struct Data {
  std::vector<std::string> families;
  std::vector<OverlapRow> rows;
  std::vector<std::vector<std::string>> evidence;        // per family
  std::vector<std::vector<std::size_t>> shapes;          // per family, indices of its shapes
  std::map<std::string, std::set<std::string>> missing;  // per family without rows
};

Data collect(const Machine& machine, const Run& kernels) {
  Data data;
  std::map<std::string, std::size_t> family_index, shape_index;
  for (const Measurement* m : with_quantity(kernels, "kernel.time")) {
    if (word(m->parameters, "split") != "fit" || !usable(m->verdict) || !m->value || !m->work) {
      continue;
    }
    const std::string family = word(m->parameters, "family").value_or("");
    const Demand demand = demand_of(machine, *m->work, m->parameters);
    if (!demand.missing.empty() || !(*m->value > 0)) {
      data.missing[family].insert(demand.missing.begin(), demand.missing.end());
      continue;
    }
    const auto [at, added] = family_index.emplace(family, data.families.size());
    if (added) {
      data.families.push_back(family);
      data.evidence.emplace_back();
      data.shapes.emplace_back();
    }
    OverlapRow row{at->second, 0, *m->value, demand.launches, demand.launch_s, {}};
    for (const Resource& resource : demand.resources) row.times.push_back(resource.time_s);
    const auto [shape, fresh] = shape_index.emplace(shape_key(m->parameters), shape_index.size());
    if (fresh) data.shapes[row.family].push_back(shape->second);
    row.shape = shape->second;
    data.evidence[row.family].push_back(m->id);
    data.rows.push_back(std::move(row));
  }
  return data;
}

std::vector<double> ones(const Data& data) { return std::vector<double>(data.rows.size(), 1.0); }

double unknowns_of(const OverlapUnknowns& unknowns, std::size_t family) {
  return (unknowns.free[overhead_at(family)] ? 1.0 : 0.0) +
         (unknowns.free[share_at(family)] ? 1.0 : 0.0);
}

double degrees_of(const Data& data, const OverlapUnknowns& unknowns, std::size_t family) {
  const auto shapes = static_cast<double>(data.shapes[family].size());
  return std::max(shapes - unknowns_of(unknowns, family), 0.0) + prior_degrees;
}

// All residuals, or pulled in to three robust standard deviations (1.4826 median |r|), so that one
// outlier does not widen the loss that is to resist it.
enum class Tails { whole, clipped };

std::vector<double> residuals_of(const Data& data, const OverlapUnknowns& unknowns, Tails tails) {
  std::vector<double> residuals = log_residuals(data.rows, unknowns);
  if (tails == Tails::whole) return residuals;
  std::vector<double> sizes;
  for (const double r : residuals) sizes.push_back(std::abs(r));
  const double limit = 3 * 1.4826 * *median(sizes);
  for (double& r : residuals) r = std::clamp(r, -limit, limit);
  return residuals;
}

// Standard deviation of the log residuals per family; a family's squares are counted per shape
// (mean over its rows), because rows of one shape are not independent.
std::vector<double> scatter(const Data& data, const OverlapUnknowns& unknowns, Tails tails) {
  const std::vector<double> residuals = residuals_of(data, unknowns, tails);
  std::map<std::size_t, std::pair<double, double>> by_shape;  // sum of squares, rows
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    by_shape[data.rows[i].shape].first += residuals[i] * residuals[i];
    by_shape[data.rows[i].shape].second += 1;
  }
  std::vector<double> squares(data.families.size(), 0.0);
  double all = 0, used = 1;
  for (std::size_t f = 0; f < data.families.size(); ++f) {
    for (const std::size_t shape : data.shapes[f]) {
      squares[f] += by_shape[shape].first / by_shape[shape].second;
    }
    all += squares[f];
    used += unknowns_of(unknowns, f);
  }
  const double common = all / std::max(static_cast<double>(by_shape.size()) - used, 1.0);
  std::vector<double> result;
  for (std::size_t f = 0; f < data.families.size(); ++f) {
    result.push_back(std::max(min_scale, std::sqrt((squares[f] + prior_degrees * common) /
                                                   degrees_of(data, unknowns, f))));
  }
  return result;
}

// Leaves out what the rows cannot tell, the fixed overhead before the share, and solves again.
std::set<std::size_t> fix_flat(const Data& data, OverlapUnknowns& unknowns) {
  const std::vector<double> scale(data.families.size(), 0.1);
  std::set<std::size_t> fixed;
  for (std::size_t f = 0; f < data.families.size(); ++f) {
    if (data.shapes[f].size() > 1) continue;  // one shape cannot tell a fixed cost from a relative
    fixed.insert(overhead_at(f));
    unknowns.free[overhead_at(f)] = false;
  }
  for (;;) {
    solve_overlap(data.rows, ones(data), scale, unknowns);
    const std::vector<std::size_t> flat = flat_unknowns(data.rows, unknowns);
    if (flat.empty()) return fixed;
    std::set<std::size_t> drop;
    for (const std::size_t index : flat) {
      if (index % 2 == 1) drop.insert(index);
    }
    if (drop.empty()) drop.insert(flat.begin(), flat.end());
    for (const std::size_t index : drop) {
      unknowns.free[index] = false;
      unknowns.value[index] = index == 0 ? 0.5 : 0.0;
      fixed.insert(index);
    }
  }
}

// One column of refitted values for each unknown.
std::vector<std::vector<double>> bootstrap(const Data& data, const std::vector<double>& scale,
                                           const OverlapUnknowns& fitted,
                                           const OverlapSettings& settings) {
  std::mt19937_64 random(settings.seed);
  std::size_t shapes = 0;
  for (const auto& list : data.shapes) shapes += list.size();
  std::vector<std::vector<double>> columns(fitted.value.size());
  for (int k = 0; k < settings.resamples; ++k) {
    std::vector<double> times_drawn(shapes, 0.0), weights;
    for (const auto& list : data.shapes) {
      for (std::size_t i = 0; i < list.size(); ++i) times_drawn[list[random() % list.size()]] += 1;
    }
    for (const OverlapRow& row : data.rows) weights.push_back(times_drawn[row.shape]);
    OverlapUnknowns refit = fitted;
    solve_overlap(data.rows, weights, scale, refit);
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(refit.value[i]);
  }
  return columns;
}

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

Parameter present(double value, Unit unit, std::optional<Interval> interval, std::string method,
                  std::vector<std::string> evidence) {
  Parameter parameter;
  parameter.value = value;
  parameter.unit = unit;
  parameter.interval = interval;
  parameter.status = Status::derived;
  parameter.method = std::move(method);
  parameter.evidence = std::move(evidence);
  if (!interval) parameter.reason = "too few shapes for an interval";
  return parameter;
}

// Removes what an earlier fit left, so that nothing of it can be taken for this fit's.
void forget(Machine& machine) {
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

// Writes one fit into a machine.
class Recorder {
 public:
  Recorder(Machine& machine, const Data& data, const OverlapUnknowns& unknowns,
           const std::set<std::size_t>& fixed, const std::vector<std::vector<double>>& refits)
      : machine_(machine), data_(data), unknowns_(unknowns), fixed_(fixed), refits_(refits) {}

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
        1 / unknowns_.value[0], Unit::one, inverse,
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
        present(value * factor, unit, interval,
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
        sigma, Unit::one, std::nullopt,
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
  const Data& data_;
  const OverlapUnknowns& unknowns_;
  const std::set<std::size_t>& fixed_;
  const std::vector<std::vector<double>>& refits_;
};

void record_missing(Machine& machine, const Data& data) {
  for (const auto& [family, names] : data.missing) {
    if (machine.parameters.contains("model.overhead." + family)) continue;
    const std::string reason =
        fmt::format("no fitting row has all its ceilings; missing: {}", fmt::join(names, ", "));
    machine.parameters["model.overhead." + family] =
        absent(Unit::second, Status::not_measured, reason);
    machine.parameters["model.overhead." + family + ".share"] =
        absent(Unit::one, Status::not_measured, reason);
  }
}

}  // namespace

std::string shape_key(const Parameters& parameters) {
  Parameters shape;
  for (const auto& [name, value] : parameters) {
    if (name == "threads" || name == "type" || name == "residency" || name == "split") continue;
    shape[name] = value;
  }
  return to_string(shape);
}

void fit_overlap(Machine& machine, const Run& kernels, const OverlapSettings& settings) {
  forget(machine);
  const Data data = collect(machine, kernels);
  record_missing(machine, data);
  if (data.rows.empty()) {
    machine.parameters["model.overlap"] =
        absent(Unit::one, Status::not_measured,
               "no usable kernel.time with split=fit and all its ceilings");
    return;
  }
  OverlapUnknowns unknowns(data.families.size());
  const std::set<std::size_t> fixed = fix_flat(data, unknowns);
  const std::vector<double> scale = scatter(data, unknowns, Tails::clipped);
  solve_overlap(data.rows, ones(data), scale, unknowns);
  const std::vector<std::vector<double>> refits = bootstrap(data, scale, unknowns, settings);
  Recorder recorder(machine, data, unknowns, fixed, refits);
  recorder.overlap();
  const std::vector<double> sigma = scatter(data, unknowns, Tails::whole);
  for (std::size_t f = 0; f < data.families.size(); ++f) recorder.family(f, sigma[f]);
  recorder.covariance(covariance_of(data.rows, scale, unknowns));
}

}  // namespace warpmeter
