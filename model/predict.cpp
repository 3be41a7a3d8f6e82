// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/predict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/stats.h"
#include "model/p_norm.h"
#include "model/resources.h"

namespace warpmeter {
namespace {

// The fitted part of the model for one family; elasticities are set once the time is known.
struct Fitted {
  Input overlap, overhead, share;
};

// The fit could not tell this family's fixed overhead from its share and left it out of the model.
bool folded_into_share(const Machine& machine, const std::string& overhead_name) {
  const auto found = machine.parameters.find(overhead_name);
  return found != machine.parameters.end() && found->second.status == Status::not_identifiable;
}

std::optional<Fitted> fitted_of(const Machine& machine, const std::string& family,
                                std::vector<std::string>& missing) {
  const std::string overhead_name = "model.overhead." + family;
  std::optional<Input> overlap = input_of(machine, "model.overlap." + family, 0);
  if (!overlap) overlap = input_of(machine, "model.overlap", 0);
  std::optional<Input> overhead = input_of(machine, overhead_name, 0);
  const std::optional<Input> share = input_of(machine, overhead_name + ".share", 0);
  if (!overhead && share && folded_into_share(machine, overhead_name)) {
    overhead = Input{overhead_name, 0, 0, 0};
  }
  if (!overlap) missing.push_back("model.overlap");
  if (!overhead) missing.push_back(overhead_name);
  if (!share) missing.push_back(overhead_name + ".share");
  if (!overlap || !overhead || !share) return std::nullopt;
  return Fitted{*overlap, *overhead, *share};
}

// d log(p-norm) / d log p = sum w_r log(t_r) - log(norm) with w_r = t_r^p / norm^p; it is never
// positive, as more overlap never takes longer.
double overlap_elasticity(const std::vector<double>& weights, const std::vector<double>& times,
                          double norm) {
  double sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] > 0) sum += weights[i] * std::log(times[i] / norm);
  }
  return sum;
}

// Variance of log(time): elasticities times the covariance of the inputs' logarithms.
double log_variance(const Machine& machine, const std::vector<Input>& inputs) {
  std::map<std::string, Input> joined;  // the same ceiling may serve two resources
  for (const Input& input : inputs) {
    const auto [at, added] = joined.emplace(input.name, input);
    if (!added) at->second.elasticity += input.elasticity;
  }
  const Covariance& covariance = machine.covariance;
  const auto row_of = [&](const std::string& name) -> std::optional<std::size_t> {
    const auto at = std::find(covariance.names.begin(), covariance.names.end(), name);
    if (at == covariance.names.end()) return std::nullopt;
    return static_cast<std::size_t>(at - covariance.names.begin());
  };
  // An absolute gradient, because an overhead may be zero.
  const auto gradient = [](const Input& input) {
    return input.value == 0 ? input.elasticity : input.elasticity / input.value;
  };
  double variance = 0;
  for (const auto& [name_a, a] : joined) {
    const std::optional<std::size_t> row = row_of(name_a);
    if (!row) {
      variance += std::pow(gradient(a) * a.sigma, 2);
      continue;
    }
    for (const auto& [name_b, b] : joined) {
      const std::optional<std::size_t> column = row_of(name_b);
      if (column) variance += gradient(a) * gradient(b) * covariance.matrix[*row][*column];
    }
  }
  return std::max(variance, 0.0);
}

// Quantiles of log(measured/predicted) at the two ends of default_level; null if there are none.
std::optional<Interval> discrepancy_of(const Machine& machine, const std::string& family) {
  const auto found = machine.parameters.find("model.discrepancy." + family);
  if (found == machine.parameters.end() || !found->second.distribution.is_object()) {
    return std::nullopt;
  }
  const Json& distribution = found->second.distribution;
  if (!distribution.contains("quantiles")) return std::nullopt;
  const Json& quantiles = distribution["quantiles"];
  if (!quantiles.contains("0.05") || !quantiles.contains("0.95")) return std::nullopt;
  return Interval{quantiles["0.05"].get<double>(), quantiles["0.95"].get<double>()};
}

void set_interval(Prediction& prediction, const Machine& machine, const std::string& family,
                  const std::vector<Input>& inputs) {
  const std::optional<Interval> discrepancy = discrepancy_of(machine, family);
  if (!discrepancy) {
    prediction.reason = fmt::format("no interval: model.discrepancy.{} is missing", family);
    return;
  }
  const double half = student_t(default_level, 1e6) * std::sqrt(log_variance(machine, inputs));
  prediction.interval = Interval{*prediction.time_s * std::exp(-std::hypot(discrepancy->lo, half)),
                                 *prediction.time_s * std::exp(std::hypot(discrepancy->hi, half))};
}

// Scales the elasticities of a part's inputs by that part's share of the time.
void append(std::vector<Input>& inputs, std::vector<Input> part, double share) {
  for (Input& input : part) {
    input.elasticity *= share;
    inputs.push_back(std::move(input));
  }
}

}  // namespace

Prediction predict(const Machine& machine, const Work& work, const Parameters& parameters) {
  Prediction prediction;
  const std::string family = word(parameters, "family").value_or("");
  const Demand demand = demand_of(machine, work, parameters);
  prediction.missing = demand.missing;
  const std::optional<Fitted> fitted = fitted_of(machine, family, prediction.missing);
  if (!prediction.missing.empty()) {
    prediction.reason = fmt::format("missing: {}", fmt::join(prediction.missing, ", "));
    return prediction;
  }

  std::vector<double> times;
  for (const Resource& resource : demand.resources) times.push_back(resource.time_s);
  const double p = fitted->overlap.value;
  const double norm = p_norm(times, 1 / p);
  const double busy = (1 + fitted->share.value) * norm;
  const double overhead = demand.launches * fitted->overhead.value;
  const double launch = demand.launches * demand.launch_s;
  const double time = launch + overhead + busy;
  if (!(time > 0)) {
    prediction.reason = "the kernel has no operations, bytes or launches";
    return prediction;
  }
  prediction.time_s = time;

  std::vector<Input> inputs;
  std::vector<double> weights;
  prediction.shares = {{"launch", launch / time}, {"overhead", overhead / time}};
  for (const Resource& resource : demand.resources) {
    weights.push_back(std::pow(resource.time_s / norm, p));
    prediction.shares[resource.name] = weights.back() * busy / time;
    append(inputs, resource.inputs, prediction.shares[resource.name]);
  }
  append(inputs, demand.inputs, launch / time);
  Fitted used = *fitted;
  used.overlap.elasticity = overlap_elasticity(weights, times, norm) * busy / time;
  // For an overhead of zero log_variance takes the gradient as it is.
  used.overhead.elasticity = used.overhead.value == 0 ? demand.launches / time : overhead / time;
  used.share.elasticity = norm / time * (used.share.value == 0 ? 1 : used.share.value);
  append(inputs, {used.overlap, used.overhead, used.share}, 1);

  prediction.bound =
      std::max_element(prediction.shares.begin(), prediction.shares.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; })
          ->first;
  set_interval(prediction, machine, family, inputs);
  return prediction;
}

}  // namespace warpmeter
