// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/deconvolution_equations.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace warpmeter {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double ridge = 1e-10;         // of a matrix with ones on its diagonal
constexpr double most_inflation = 1e6;  // of a variance, by what a column shares with others
// By how much the variance may grow when what the clocks may have caused is taken off: beyond, it
// is mostly the clocks that tell a column from the others.
constexpr double most_clock_inflation = 1.3;
constexpr Index least_stretch = 4, most_stretches = 256;

MatrixXd inverse_of(const MatrixXd& matrix, const VectorXd& taken_off) {
  MatrixXd changed = matrix;
  changed.diagonal() += VectorXd::Constant(matrix.rows(), ridge) - taken_off;
  return changed.ldlt().solve(MatrixXd::Identity(matrix.rows(), matrix.cols()));
}

Index nearest(const MatrixXd& inverse, Index column) {
  Index partner = -1;
  for (Index other = 0; other < inverse.rows(); ++other) {
    if (other == column) continue;
    if (partner < 0 || std::abs(inverse(other, column)) > std::abs(inverse(partner, column)))
      partner = other;
  }
  return partner;
}

}  // namespace

Unknowns::Unknowns(std::span<const std::int64_t> times, const std::vector<bool>& valid,
                   Timeline& timeline, std::int32_t most) {
  double length = 0;
  std::int64_t count = 0;
  timeline.sweep(times, valid, [&](const SweptInterval& interval) {
    seen_.resize(std::size_t(timeline.activities()));
    for (const ActivityShare& share : interval.shares) {
      Seen& seen = seen_[std::size_t(share.activity)];
      seen.time += share.time;
      seen.launches += share.launches;
      ++seen.intervals;
    }
    length += interval.length;
    ++count;
  });
  if (count > 0) typical_length_ = length / static_cast<double>(count);
  seen_.resize(std::size_t(timeline.activities()));
  together_.resize(std::size_t(timeline.groups()));
  for (const auto& [groups, activity] : timeline.sets())
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (i == 0 || groups[i] != groups[i - 1])
        together_[std::size_t(groups[i])] += seen_[std::size_t(activity)].time;

  columns_.assign(seen_.size(), -1);
  for (std::size_t a = 0; a < seen_.size(); ++a)
    if (seen_[a].time > 0) activities_.push_back(static_cast<std::int32_t>(a));
  std::stable_sort(activities_.begin(), activities_.end(), [&](std::int32_t a, std::int32_t b) {
    return seen_[std::size_t(a)].time > seen_[std::size_t(b)].time;
  });
  size_ = std::min<Index>(std::ssize(activities_), most);
  if (size_ < std::ssize(activities_)) rest_ = size_ - 1;
  for (Index i = 0; i < std::ssize(activities_); ++i)
    columns_[std::size_t(activity(i))] = std::min(i, size_ - 1);
}

Equations::Equations(std::span<const std::int64_t> times, const std::vector<bool>& valid,
                     SampleSeries::Kind kind, std::span<const std::span<const double>> values,
                     const Unknowns& unknowns, Timeline& timeline,
                     const DeconvolutionOptions& options)
    : times_(times),
      valid_(valid),
      kind_(kind),
      values_(values),
      unknowns_(unknowns),
      timeline_(timeline),
      boundary_sd_(std::max(options.boundary_sd_ns, 1.0) / std::sqrt(2)),
      matrix_(MatrixXd::Zero(size(), size())),
      right_(MatrixXd::Zero(size(), std::ssize(values))),
      error_(VectorXd::Zero(size())),
      error_right_(right_),
      sums_(error_),
      squares_(error_),
      told_sums_(error_),
      told_squares_(error_) {
  accumulate();
}

void Equations::sweep(const std::function<void(const SweptInterval&, const Row&)>& use) {
  const double typical = unknowns_.typical_length();
  // Launches for a group that has a column of its own, in counts; else time, in intervals.
  const auto amount = [&](const ActivityShare& share, Index column) {
    const bool launches =
        kind_ == SampleSeries::Kind::count && share.launches > 0 && column != unknowns_.rest();
    return launches ? share.launches : share.time / typical;
  };
  Row row;
  timeline_.sweep(times_, valid_, [&](const SweptInterval& interval) {
    row.weight = std::sqrt(typical / interval.length);
    row.scale = row.weight * (kind_ == SampleSeries::Kind::level ? interval.length / typical : 1.0);
    row.terms.clear();
    for (const ActivityShare& share : interval.shares) {
      const Index column = unknowns_.column(share.activity);
      row.terms.emplace_back(column, row.weight * amount(share, column));
    }
    const ActivityShare* ends[] = {&interval.at_start, &interval.at_end};
    for (int end = 0; end < 2; ++end) {
      const Index column = unknowns_.column(ends[end]->activity);
      row.ends[end] = {column, row.weight * boundary_sd_ * amount(*ends[end], column)};
    }
    use(interval, row);
  });
}

void Equations::accumulate() {
  const Index series = std::ssize(values_);
  sweep([&](const SweptInterval& interval, const Row& row) {
    ++intervals;
    for (const auto& [a, x] : row.terms) {
      for (const auto& [b, y] : row.terms) matrix_(a, b) += x * y;
      for (Index s = 0; s < series; ++s)
        right_(a, s) += x * row.scale * values_[std::size_t(s)][interval.index];
    }
    for (const auto& [column, amount] : row.ends) {
      error_[column] += amount * amount;
      if (kind_ == SampleSeries::Kind::count) continue;
      // A level times a length that is uncertain by as much as the time that it is spread over.
      for (Index s = 0; s < series; ++s)
        error_right_(column, s) += amount * amount * values_[std::size_t(s)][interval.index];
    }
  });
}

// Finds the columns that the samples do not tell from others, and the inverse of the matrix with
// what uncertain boundaries have added to the other columns taken off.
void Equations::correct(const MatrixXd& matrix, VectorXd& taken_off, MatrixXd& inverse,
                        std::vector<Index>& confused) const {
  const MatrixXd plain = inverse_of(matrix, VectorXd::Zero(size()));
  for (Index column = 0; column < size(); ++column) {
    if (plain(column, column) > 0 && plain(column, column) < most_inflation) continue;
    confused[std::size_t(column)] = nearest(plain, column);
    taken_off[column] = 0;
  }
  for (bool again = true; again;) {
    again = false;
    inverse = inverse_of(matrix, taken_off);
    for (Index column = 0; column < size(); ++column) {
      const double inflation = inverse(column, column) / plain(column, column);
      if (confused[std::size_t(column)] >= 0 || (inflation > 0 && inflation < most_clock_inflation))
        continue;
      confused[std::size_t(column)] = nearest(inverse, column);
      taken_off[column] = 0;
      again = true;
    }
  }
}

Solution Equations::solve(bool with_variances) {
  Solution out;
  out.confused_with.assign(std::size_t(size()), -1);
  if (size() == 0) return out;
  const VectorXd norm = matrix_.diagonal().cwiseSqrt();
  const VectorXd scale = norm.cwiseInverse();
  const MatrixXd matrix = scale.asDiagonal() * matrix_ * scale.asDiagonal();
  VectorXd taken_off = error_.cwiseProduct(scale).cwiseProduct(scale);
  correct(matrix, taken_off, inverse_, out.confused_with);
  corrected_ = (taken_off.array() > 0).select(VectorXd::Ones(size()), VectorXd::Zero(size()));
  inverse_ = scale.asDiagonal() * inverse_ * scale.asDiagonal();
  out.values = inverse_ * (right_ - corrected_.asDiagonal() * error_right_);
  if (with_variances) out.variances = variances(out.values, corrected_);
  return out;
}

MatrixXd Equations::moved_by_boundaries(const Solution& solution) const {
  return inverse_ * corrected_.asDiagonal() *
         (error_.asDiagonal() * solution.values - error_right_);
}

// Boundaries that are late by a ns move (rate at the end) - (rate at the start) into the interval:
// one more column, whose coefficient is the offset, beside those that are solved for.
ClockEvidence Equations::clock_evidence(const Solution& solution) {
  const Index series = std::ssize(values_);
  ClockEvidence out;
  MatrixXd shared = MatrixXd::Zero(size(), series);  // of the new column and the others
  VectorXd squares = VectorXd::Zero(series), with_residual = squares;
  // Of the scores moved * residual: the noise is counted where the offset is told, and neighbours
  // share a boundary (Newey and West, Econometrica 55, 1987, with one lag).
  VectorXd score_squares = squares, score_products = squares, before_score(series);
  std::vector<BoundaryFit> fits(values_.size());
  VectorXd before_residual(series), before_rate(series);
  std::size_t before = 0;
  double parts = 0;
  sweep([&](const SweptInterval& interval, const Row& row) {
    for (Index s = 0; s < series; ++s) {
      double residual = row.scale * values_[std::size_t(s)][interval.index];
      for (const auto& [column, x] : row.terms) residual -= x * solution.values(column, s);
      const auto rate = [&](int end) {
        return solution.values(row.ends[end].first, s) * row.ends[end].second / boundary_sd_;
      };
      if (interval.index == before + 1)
        fits[std::size_t(s)].add(before_residual[s] * residual, before_rate[s] * rate(0), parts);
      const double moved = rate(1) - rate(0), score = moved * residual;
      if (interval.index == before + 1) score_products[s] += before_score[s] * score;
      before_score[s] = score;
      before_residual[s] = residual;
      before_rate[s] = rate(1);
      for (const auto& [column, x] : row.terms) shared(column, s) += x * moved;
      squares[s] += moved * moved;
      with_residual[s] += score;
      score_squares[s] += score * score;
    }
    before = interval.index;
    parts = interval.before_end * interval.after_end;
  });
  for (const BoundaryFit& fit : fits) {
    const auto found = fit.variance();
    if (!found || !(found->second < out.boundary_variance)) continue;
    std::tie(out.boundary, out.boundary_variance) = *found;
  }
  out.sensitivity = -inverse_ * shared;
  for (Index s = 0; s < series; ++s) {
    const double noise = (score_squares[s] + std::max(0.0, 2 * score_products[s])) / squares[s];
    const double own = squares[s] + shared.col(s).dot(out.sensitivity.col(s));
    if (!(noise > 0) || !(own > 0)) continue;
    out.slope += with_residual[s] / noise;
    out.curvature += own / noise;
    out.most_of_one = std::max(out.most_of_one, own / noise);
  }
  return out;
}

// The sandwich: inverse * (sum over stretches of score * score') * inverse, its diagonal.
MatrixXd Equations::variances(const MatrixXd& values, const VectorXd& corrected) {
  const Index series = std::ssize(values_);
  const Index shortest = std::max(least_stretch, intervals / most_stretches);
  MatrixXd out = MatrixXd::Zero(size(), series), score = out;
  VectorXd seen = VectorXd::Zero(size()), told = seen, influence(size()), residual(series);
  Index length = 0;
  const auto close = [&] {
    out += (inverse_ * score).cwiseAbs2();
    sums_ += seen;
    squares_ += seen.cwiseAbs2();
    told_sums_ += told;
    told_squares_ += told.cwiseAbs2();
    told.setZero();
    score.setZero();
    seen.setZero();
    length = 0;
  };
  sweep([&](const SweptInterval& interval, const Row& row) {
    for (Index s = 0; s < series; ++s)
      residual[s] = row.scale * values_[std::size_t(s)][interval.index];
    for (const auto& [column, x] : row.terms) residual -= x * values.row(column).transpose();
    influence.setZero();
    for (const auto& [column, x] : row.terms) {
      score.row(column) += x * residual.transpose();
      seen[column] += x / row.weight;
      influence += x * inverse_.col(column);
    }
    told += influence.cwiseAbs2();
    for (const auto& [column, amount] : row.ends) {
      const double error = corrected[column] * amount * amount;
      score.row(column) += error * values.row(column);
      if (kind_ == SampleSeries::Kind::count) continue;
      for (Index s = 0; s < series; ++s)
        score(column, s) -= error * values_[std::size_t(s)][interval.index];
    }
    if (++length >= shortest && interval.may_cut) close();
  });
  close();
  return out * (static_cast<double>(intervals) /
                static_cast<double>(std::max<Index>(1, intervals - size())));
}

}  // namespace warpmeter
