// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Internal to deconvolve().
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "profiler/deconvolution.h"

namespace warpmeter {

// The columns of the equations: idle, groups and sets of groups, those with most time; the others
// share the last one.
class Unknowns {
 public:
  struct Seen {
    double time = 0, launches = 0;
    std::int64_t intervals = 0;
  };

  Unknowns(std::span<const std::int64_t> times, const std::vector<bool>& valid, Timeline& timeline,
           std::int32_t most);

  Eigen::Index size() const { return size_; }
  Eigen::Index column(std::int32_t activity) const { return columns_[std::size_t(activity)]; }
  std::int32_t activity(Eigen::Index column) const { return activities_[std::size_t(column)]; }
  Eigen::Index rest() const { return rest_; }  // -1: every activity has a column of its own
  const Seen& seen(std::int32_t activity) const { return seen_[std::size_t(activity)]; }
  double time_together(std::int32_t group) const { return together_[std::size_t(group)]; }
  double typical_length() const { return typical_length_; }  // ns, of an interval

 private:
  Eigen::Index size_ = 0, rest_ = -1;
  std::vector<Seen> seen_;
  std::vector<Eigen::Index> columns_;     // by activity; -1: it was never seen
  std::vector<std::int32_t> activities_;  // by column
  std::vector<double> together_;          // by group, ns
  double typical_length_ = 1;
};

// What the series say of the offset of the clocks: the logarithm of its likelihood falls from the
// best by curvature / 2 times the square of the distance, which is slope / curvature ns from here.
struct ClockEvidence {
  double slope = 0, curvature = 0;
  double most_of_one = 0;       // curvature of the series that says most
  Eigen::MatrixXd sensitivity;  // of the solution, per ns: columns x series
  // Variance of a boundary, ns², as estimated by the series that says most, and the variance of
  // that estimate; infinite: none says anything.
  double boundary = 0, boundary_variance = std::numeric_limits<double>::infinity();
};

// What neighbouring intervals say of the boundary between them: where it is late by d, one has
// d times the rate there too much, the other too little, so that residual * next residual is on
// average -variance * rate². A launch that it cuts and that differs from its like by a relative
// standard deviation v adds v² rate² times the parts of it before and behind. Least squares for
// both, with the variance of the first (White's, Econometrica 48, 1980).
class BoundaryFit {
 public:
  void add(double product, double rate_squared, double parts_product);
  std::optional<std::pair<double, double>> variance() const;  // ns², and its variance

 private:
  Eigen::Matrix3d moments_ = Eigen::Matrix3d::Zero();
  Eigen::Matrix<double, 9, 9> fourth_ = Eigen::Matrix<double, 9, 9>::Zero();
};

struct Solution {
  Eigen::MatrixXd values, variances;        // columns x series
  std::vector<Eigen::Index> confused_with;  // by column; -1: it is identified
};

// The normal equations of one part of the series.
class Equations {
 public:
  Equations(std::span<const std::int64_t> times, const std::vector<bool>& valid,
            SampleSeries::Kind kind, std::span<const std::span<const double>> values,
            const Unknowns& unknowns, Timeline& timeline, const DeconvolutionOptions& options);

  // With variances only if they are wanted.
  Solution solve(bool with_variances);

  // By how much values change if the variance of boundaries doubles: columns x series.
  Eigen::MatrixXd moved_by_boundaries(const Solution& solution) const;

  // Of all series, each weighted with its own noise.
  ClockEvidence clock_evidence(const Solution& solution);

  Eigen::Index size() const { return unknowns_.size(); }
  // Number of equal stretches of the recording that tell as much of a column as those that there
  // are (Kish's effective sample size): that hold as much of it, or if that is less, that tell it
  // from the others as well, since of many alike only few may do that.
  double stretches(Eigen::Index column) const {
    if (!(squares_[column] > 0 && told_squares_[column] > 0)) return 0;
    return std::min(sums_[column] * sums_[column] / squares_[column],
                    told_sums_[column] * told_sums_[column] / told_squares_[column]);
  }

  Eigen::Index intervals = 0;

 private:
  // A row: what it has of each column, and what its two ends have, all in its own weight.
  struct Row {
    std::vector<std::pair<Eigen::Index, double>> terms;
    std::pair<Eigen::Index, double>
        ends[2];                   // column and its amount per standard deviation of time
    double weight = 1, scale = 1;  // of values
  };
  void sweep(const std::function<void(const SweptInterval&, const Row&)>& use);
  void accumulate();
  void correct(const Eigen::MatrixXd& matrix, Eigen::VectorXd& taken_off, Eigen::MatrixXd& inverse,
               std::vector<Eigen::Index>& confused) const;
  Eigen::MatrixXd variances(const Eigen::MatrixXd& values, const Eigen::VectorXd& corrected);

  std::span<const std::int64_t> times_;
  const std::vector<bool>& valid_;
  const SampleSeries::Kind kind_;
  std::span<const std::span<const double>> values_;
  const Unknowns& unknowns_;
  Timeline& timeline_;
  const double boundary_sd_;
  Eigen::MatrixXd matrix_, right_;  // of the equations
  Eigen::MatrixXd inverse_;
  Eigen::VectorXd corrected_;    // columns of which it is taken off
  Eigen::VectorXd error_;        // what uncertain boundaries add to the matrix's diagonal
  Eigen::MatrixXd error_right_;  // and to the right side
  // Of the columns over the stretches: amounts, and squares of the influence on the value.
  Eigen::VectorXd sums_, squares_, told_sums_, told_squares_;
};

}  // namespace warpmeter
