// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/draft.h"

#include <algorithm>
#include <random>

#include "core/stats.h"

namespace warpmeter {
namespace {

// Names per set of data; only sets with at least two parameters and two campaigns.
std::map<std::string, std::vector<std::string>> sets_of(const Draft& draft) {
  std::map<std::string, std::vector<std::string>> sets;
  for (const auto& [name, shared] : draft.shared) {
    if (shared.replicates.size() >= 2) sets[shared.data].push_back(name);
  }
  std::erase_if(sets, [](const auto& item) { return item.second.size() < 2; });
  return sets;
}

// Covariance of the medians over campaigns, by resampling the campaigns of all at once.
std::vector<std::vector<double>> joint_bootstrap(const std::vector<std::vector<double>>& replicates,
                                                 int resamples) {
  const std::size_t count = replicates.size();
  std::size_t campaigns = replicates[0].size();
  for (const auto& own : replicates) campaigns = std::min(campaigns, own.size());
  std::mt19937_64 random(1);
  std::vector<std::size_t> drawn(campaigns);
  std::vector<double> sum(count), middle(count), draw(campaigns);
  std::vector<std::vector<double>> products(count, std::vector<double>(count));
  for (int i = 0; i < resamples; ++i) {
    for (std::size_t& index : drawn) index = random() % campaigns;
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t k = 0; k < campaigns; ++k) draw[k] = replicates[a][drawn[k]];
      middle[a] = *median(draw) - replicates[a][0];  // shifted, against cancellation
      sum[a] += middle[a];
    }
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) products[a][b] += middle[a] * middle[b];
    }
  }
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      products[a][b] = (products[a][b] - sum[a] * sum[b] / resamples) / (resamples - 1);
    }
  }
  return products;
}

}  // namespace

Parameter from_replicates(const Draft& draft, Unit unit, const std::vector<double>& replicates,
                          std::string method, const Points& evidence, std::string reason) {
  if (replicates.empty()) return unknown(unit, Status::not_identifiable, std::move(reason));
  Parameter parameter;
  parameter.value = median(replicates);
  parameter.unit = unit;
  parameter.status = draft.status;
  parameter.reason = std::move(reason);
  parameter.method = std::move(method);
  parameter.evidence = ids(evidence);
  std::vector<std::vector<double>> campaigns;
  for (const double estimate : replicates) campaigns.push_back({estimate});
  parameter.interval = bootstrap_interval(campaigns);
  return parameter;
}

Parameter from_measurement(const Draft& draft, const Measurement& measurement, std::string reason) {
  Parameter parameter;
  parameter.value = measurement.value;
  parameter.unit = measurement.unit;
  parameter.interval = measurement.interval;
  parameter.level = measurement.level;
  parameter.status = draft.status;
  parameter.reason = std::move(reason);
  parameter.method = measurement.method;
  parameter.evidence = {measurement.id};
  return parameter;
}

Parameter unknown(Unit unit, Status status, std::string reason) {
  Parameter parameter;
  parameter.unit = unit;
  parameter.status = status;
  parameter.reason = std::move(reason);
  return parameter;
}

void add_covariance(Draft& draft, int resamples) {
  Covariance& covariance = draft.machine.covariance;
  const auto sets = sets_of(draft);
  for (const auto& [data, names] : sets) {
    covariance.names.insert(covariance.names.end(), names.begin(), names.end());
  }
  const std::size_t size = covariance.names.size();
  covariance.matrix.assign(size, std::vector<double>(size, 0));
  std::size_t offset = 0;
  for (const auto& [data, names] : sets) {
    std::vector<std::vector<double>> replicates;
    for (const std::string& name : names) replicates.push_back(draft.shared.at(name).replicates);
    const auto block = joint_bootstrap(replicates, resamples);
    for (std::size_t a = 0; a < names.size(); ++a) {
      for (std::size_t b = 0; b < names.size(); ++b) {
        covariance.matrix[offset + a][offset + b] = block[a][b];
      }
    }
    offset += names.size();
  }
}

}  // namespace warpmeter
