// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/overlap_fit.h"

#include <ceres/ceres.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "model/p_norm.h"

namespace warpmeter {
namespace {

// Huber's constant: 95 % efficient for Gaussian residuals of unit variance (Huber, 1964).
constexpr double huber = 1.345;
constexpr double min_share = -0.5;  // a kernel twice as fast as its measured ceilings
constexpr double max_share = 20;

double lower_bound_of(std::size_t index) {
  if (index == 0) return 1 / max_overlap;
  return index % 2 == 1 ? 0.0 : min_share;
}

double upper_bound_of(std::size_t index) {
  if (index == 0) return 1;
  return index % 2 == 1 ? std::numeric_limits<double>::infinity() : max_share;
}

struct LogResidual {
  const OverlapRow* row;
  double scale;

  template <class T>
  bool operator()(const T* inverse, const T* overhead, const T* share, T* residual) const {
    using std::log;
    const T fixed = T(row->launches) * (T(row->launch) + *overhead * microsecond);
    const T busy = (T(1.0) + *share) * p_norm(row->times, *inverse);
    *residual = log((fixed + busy) / row->measured) / scale;
    return true;
  }
};

// Prior of a family's fixed overhead, half-normal, microseconds. Rows of long kernels do not see a
// fixed cost, and without a prior it takes up what the model gets wrong of them and spoils short
// kernels. A judgement: wide against what a call and its parallel regions cost, narrow against the
// times of kernels that are bound by a resource.
constexpr double overhead_prior = 5;

struct OverheadPrior {
  template <class T>
  bool operator()(const T* overhead, T* residual) const {
    *residual = *overhead / overhead_prior;
    return true;
  }
};

// Rows with weight zero add no residual; unknowns that no row uses stay out of the problem.
void add_rows(ceres::Problem& problem, const std::vector<OverlapRow>& rows,
              const std::vector<double>& weights, const std::vector<double>& scale,
              std::vector<double>& x) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (weights[i] <= 0) continue;
    const std::size_t family = rows[i].family;
    problem.AddResidualBlock(
        new ceres::AutoDiffCostFunction<LogResidual, 1, 1, 1, 1>(
            new LogResidual{&rows[i], scale[family]}),
        new ceres::ScaledLoss(new ceres::HuberLoss(huber), weights[i], ceres::TAKE_OWNERSHIP),
        &x[0], &x[overhead_at(family)], &x[share_at(family)]);
  }
  for (std::size_t f = 0; overhead_at(f) < x.size(); ++f) {
    if (!problem.HasParameterBlock(&x[overhead_at(f)])) continue;
    problem.AddResidualBlock(
        new ceres::AutoDiffCostFunction<OverheadPrior, 1, 1>(new OverheadPrior), nullptr,
        &x[overhead_at(f)]);
  }
}

void bound_and_fix(ceres::Problem& problem, std::vector<double>& x, const std::vector<bool>& free) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!problem.HasParameterBlock(&x[i])) continue;
    if (!free[i]) {
      problem.SetParameterBlockConstant(&x[i]);
      continue;
    }
    problem.SetParameterLowerBound(&x[i], 0, lower_bound_of(i));
    if (std::isfinite(upper_bound_of(i))) {
      problem.SetParameterUpperBound(&x[i], 0, upper_bound_of(i));
    }
  }
}

}  // namespace

std::vector<double> log_residuals(const std::vector<OverlapRow>& rows,
                                  const OverlapUnknowns& unknowns) {
  std::vector<double> residuals;
  for (const OverlapRow& row : rows) {
    double residual = 0;
    LogResidual{&row, 1.0}(&unknowns.value[0], &unknowns.value[overhead_at(row.family)],
                           &unknowns.value[share_at(row.family)], &residual);
    residuals.push_back(residual);
  }
  return residuals;
}

void solve_overlap(const std::vector<OverlapRow>& rows, const std::vector<double>& weights,
                   const std::vector<double>& scale, OverlapUnknowns& unknowns) {
  ceres::Problem problem;
  add_rows(problem, rows, weights, scale, unknowns.value);
  bound_and_fix(problem, unknowns.value, unknowns.free);
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.max_num_iterations = 200;
  options.function_tolerance = 1e-10;
  options.logging_type = ceres::SILENT;
  options.num_threads = 1;  // the same bits in every run
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
}

std::vector<std::size_t> flat_unknowns(const std::vector<OverlapRow>& rows,
                                       const OverlapUnknowns& unknowns) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < unknowns.free.size(); ++i) {
    if (unknowns.free[i]) free.push_back(i);
  }
  // Columns by central differences, scaled to the change that matters: a tenth of 1/p, of the
  // share, and of the row's own time for an overhead.
  Eigen::MatrixXd jacobian =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(std::max(rows.size(), free.size())),
                            static_cast<Eigen::Index>(free.size()));
  for (std::size_t j = 0; j < free.size(); ++j) {
    OverlapUnknowns up = unknowns, down = unknowns;
    double typical = 1;
    if (free[j] % 2 == 1) {
      typical = 0;
      for (const OverlapRow& row : rows) {
        if (overhead_at(row.family) == free[j]) {
          typical = std::max(typical, row.measured / std::max(row.launches, 1.0) / microsecond);
        }
      }
    }
    const double step = 1e-4 * typical;
    up.value[free[j]] += step;
    down.value[free[j]] -= step;
    const std::vector<double> high = log_residuals(rows, up), low = log_residuals(rows, down);
    for (std::size_t i = 0; i < rows.size(); ++i) jacobian(i, j) = (high[i] - low[i]) / 2e-4;
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(jacobian, Eigen::ComputeFullV);
  const double largest = svd.singularValues().size() > 0 ? svd.singularValues()(0) : 0;
  std::vector<std::size_t> flat;
  for (std::size_t j = 0; j < free.size(); ++j) {
    bool is_flat = false;
    for (Eigen::Index k = 0; k < svd.singularValues().size(); ++k) {
      is_flat = is_flat || (svd.singularValues()(k) <= 1e-5 * largest &&
                            std::abs(svd.matrixV()(static_cast<Eigen::Index>(j), k)) > 0.05);
    }
    if (is_flat) flat.push_back(free[j]);
  }
  return flat;
}

bool at_bound(const OverlapUnknowns& unknowns, std::size_t index) {
  const double value = unknowns.value[index];
  return value <= lower_bound_of(index) + 1e-6 || value >= upper_bound_of(index) - 1e-6;
}

OverlapCovariance covariance_of(const std::vector<OverlapRow>& rows,
                                const std::vector<double>& scale, const OverlapUnknowns& unknowns) {
  std::vector<double> x = unknowns.value;
  std::vector<bool> inside = unknowns.free;
  for (std::size_t i = 0; i < x.size(); ++i) inside[i] = inside[i] && !at_bound(unknowns, i);
  ceres::Problem problem;
  add_rows(problem, rows, std::vector<double>(rows.size(), 1.0), scale, x);
  bound_and_fix(problem, x, inside);
  OverlapCovariance result;
  std::vector<const double*> blocks;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!inside[i] || !problem.HasParameterBlock(&x[i])) continue;
    result.unknowns.push_back(i);
    blocks.push_back(&x[i]);
  }
  ceres::Covariance::Options options;
  options.algorithm_type = ceres::DENSE_SVD;
  ceres::Covariance covariance(options);
  if (blocks.empty() || !covariance.Compute(blocks, &problem)) return {};
  std::vector<double> flat(blocks.size() * blocks.size());
  if (!covariance.GetCovarianceMatrix(blocks, flat.data())) return {};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    result.matrix.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(i * blocks.size()),
                               flat.begin() + static_cast<std::ptrdiff_t>((i + 1) * blocks.size()));
  }
  return result;
}

}  // namespace warpmeter
