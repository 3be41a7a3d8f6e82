// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

namespace warpmeter {

// One fitting row, reduced to numbers; all times in s.
struct OverlapRow {
  std::size_t family = 0;  // index
  std::size_t shape = 0;   // index, the unit of resampling
  double measured = 0;
  double launches = 0;
  double launch = 0;          // of one launch
  std::vector<double> times;  // of each resource alone
};

// The unknowns, in the order in which they are indexed everywhere: 1/p, then for each family its
// overhead (microseconds, so that all unknowns are of order one) and its share.
struct OverlapUnknowns {
  explicit OverlapUnknowns(std::size_t families)
      : value(1 + 2 * families, 0.0), free(1 + 2 * families, true) {
    value[0] = 0.5;
  }
  std::vector<double> value;
  std::vector<bool> free;
};

inline constexpr double microsecond = 1e-6;
inline constexpr double max_overlap = 64;  // two equal times then differ from their maximum by 1 %
inline constexpr std::size_t overhead_at(std::size_t family) { return 1 + 2 * family; }
inline constexpr std::size_t share_at(std::size_t family) { return 2 + 2 * family; }

// log(predicted/measured) of each row.
std::vector<double> log_residuals(const std::vector<OverlapRow>& rows,
                                  const OverlapUnknowns& unknowns);

// Minimizes Huber's loss of log_residuals / scale[family] over the free unknowns, row i counted
// weights[i] times. Starts from the values given.
void solve_overlap(const std::vector<OverlapRow>& rows, const std::vector<double>& weights,
                   const std::vector<double>& scale, OverlapUnknowns& unknowns);

// Free unknowns with a part in a direction along which no row changes.
std::vector<std::size_t> flat_unknowns(const std::vector<OverlapRow>& rows,
                                       const OverlapUnknowns& unknowns);

// Covariance of the free unknowns that lie inside their bounds (Ceres, DENSE_SVD, Laplace's
// approximation at the whitened optimum). `names` are their indices; empty if it is singular.
struct OverlapCovariance {
  std::vector<std::size_t> unknowns;
  std::vector<std::vector<double>> matrix;
};
OverlapCovariance covariance_of(const std::vector<OverlapRow>& rows,
                                const std::vector<double>& scale, const OverlapUnknowns& unknowns);

bool at_bound(const OverlapUnknowns& unknowns, std::size_t index);

}  // namespace warpmeter
