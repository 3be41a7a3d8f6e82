// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/overlap.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "calibrator/overlap_record.h"
#include "core/stats.h"
#include "model/resources.h"

namespace warpmeter {
namespace {

constexpr double min_scale = 0.005;  // no kernel's time is repeatable to better than half a percent

OverlapData collect(const Machine& machine, const Run& kernels) {
  OverlapData data;
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

std::vector<double> ones(const OverlapData& data) {
  return std::vector<double>(data.rows.size(), 1.0);
}

// All residuals, or pulled in to three robust standard deviations (1.4826 median |r|), so that one
// outlier does not widen the loss that is to resist it.
enum class Tails { whole, clipped };

std::vector<double> residuals_of(const OverlapData& data, const OverlapUnknowns& unknowns,
                                 Tails tails) {
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
std::vector<double> scatter(const OverlapData& data, const OverlapUnknowns& unknowns, Tails tails) {
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
std::set<std::size_t> fix_flat(const OverlapData& data, OverlapUnknowns& unknowns) {
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
std::vector<std::vector<double>> bootstrap(const OverlapData& data,
                                           const std::vector<double>& scale,
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
  forget_overlap(machine);
  const OverlapData data = collect(machine, kernels);
  record_missing(machine, data);
  if (data.rows.empty()) return;
  OverlapResult result{OverlapUnknowns(data.families.size()), {}, {}, {}, {}};
  result.fixed = fix_flat(data, result.unknowns);
  const std::vector<double> scale = scatter(data, result.unknowns, Tails::clipped);
  solve_overlap(data.rows, ones(data), scale, result.unknowns);
  result.refits = bootstrap(data, scale, result.unknowns, settings);
  result.sigma = scatter(data, result.unknowns, Tails::whole);
  result.covariance = covariance_of(data.rows, scale, result.unknowns);
  record_overlap(machine, data, result);
}

}  // namespace warpmeter
