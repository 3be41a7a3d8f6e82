// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/p_norm_fit.h"

#include <ceres/ceres.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/stats.h"

namespace warpmeter {
namespace {

// log t as a function of ln a, ln B, ln p; computed as log-sum-exp, so that no power overflows.
class LogTimeResidual final : public ceres::SizedCostFunction<1, 3> {
 public:
  LogTimeResidual(double log_size, double log_time) : log_size_(log_size), log_time_(log_time) {}

  bool Evaluate(double const* const* parameters, double* residual,
                double** jacobians) const override {
    const double* theta = parameters[0];
    const double p = std::exp(theta[2]);
    const double fixed = theta[0];
    const double moving = log_size_ - theta[1];
    const double larger = std::max(fixed, moving);
    const double excess = std::log1p(std::exp(-p * std::abs(fixed - moving))) / p;
    residual[0] = larger + excess - log_time_;
    if (jacobians != nullptr && jacobians[0] != nullptr) {
      const double share = 1 / (1 + std::exp(p * (moving - fixed)));  // of the fixed cost
      jacobians[0][0] = share;
      jacobians[0][1] = -(1 - share);
      jacobians[0][2] = share * fixed + (1 - share) * moving - larger - excess;
    }
    return true;
  }

 private:
  double log_size_, log_time_;
};

struct Bounds {
  std::array<double, 3> lo, hi;
};

Bounds bounds_of(const PNormSettings& settings) {
  constexpr double none = 1e3;  // e^1000: no bound
  const double b_max = settings.b_max ? std::log(*settings.b_max) : none;
  return {{-none, -none, std::log(settings.p_min)}, {none, b_max, std::log(settings.p_max)}};
}

std::vector<PNorm> starts_of(std::span<const double> sizes, std::span<const double> times,
                             const PNormSettings& settings) {
  if (settings.start) return {*settings.start};
  const auto smallest = std::min_element(sizes.begin(), sizes.end()) - sizes.begin();
  const auto largest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  const double a = times[static_cast<std::size_t>(smallest)];
  const double b =
      sizes[static_cast<std::size_t>(largest)] / times[static_cast<std::size_t>(largest)];
  return {{a, b, 0.6}, {a, b, 1.5}, {a, b, 6}};
}

struct Solved {
  std::array<double, 3> theta{};
  double cost = std::numeric_limits<double>::infinity();
};

void add_residuals(ceres::Problem& problem, std::span<const double> sizes,
                   std::span<const double> times, double* theta, const Bounds& bounds) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    problem.AddResidualBlock(new LogTimeResidual(std::log(sizes[i]), std::log(times[i])), nullptr,
                             theta);
  }
  for (int i = 0; i < 3; ++i) {
    problem.SetParameterLowerBound(theta, i, bounds.lo[static_cast<std::size_t>(i)]);
    problem.SetParameterUpperBound(theta, i, bounds.hi[static_cast<std::size_t>(i)]);
  }
}

Solved solve(std::span<const double> sizes, std::span<const double> times, const PNorm& start,
             const Bounds& bounds) {
  Solved solved;
  solved.theta = {std::log(start.a), std::log(start.b), std::log(start.p)};
  for (std::size_t i = 0; i < 3; ++i) {
    solved.theta[i] = std::clamp(solved.theta[i], bounds.lo[i], bounds.hi[i]);
  }
  ceres::Problem problem;
  add_residuals(problem, sizes, times, solved.theta.data(), bounds);
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.logging_type = ceres::SILENT;
  options.max_num_iterations = 200;
  options.function_tolerance = 1e-12;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  if (summary.IsSolutionUsable()) solved.cost = summary.final_cost;
  return solved;
}

std::string active_bound(const std::array<double, 3>& theta, const Bounds& bounds) {
  static constexpr std::array names{"a", "B", "p"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (theta[i] <= bounds.lo[i] + 1e-6 || theta[i] >= bounds.hi[i] - 1e-6) {
      return std::string(names[i]) + " is at its bound";
    }
  }
  return "";
}

int rank_of(ceres::Problem& problem) {
  ceres::CRSMatrix sparse;
  problem.Evaluate({}, nullptr, nullptr, nullptr, &sparse);
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(sparse.num_rows, sparse.num_cols);
  for (int row = 0; row < sparse.num_rows; ++row) {
    for (int k = sparse.rows[static_cast<std::size_t>(row)];
         k < sparse.rows[static_cast<std::size_t>(row) + 1]; ++k) {
      jacobian(row, sparse.cols[static_cast<std::size_t>(k)]) =
          sparse.values[static_cast<std::size_t>(k)];
    }
  }
  Eigen::JacobiSVD<Eigen::MatrixXd> svd(jacobian);
  svd.setThreshold(1e-4);  // a direction 10^4 times weaker than the strongest is not measured
  return static_cast<int>(svd.rank());
}

void add_covariance(PNormFit& fit, std::span<const double> sizes, std::span<const double> times,
                    std::array<double, 3> theta, const Bounds& bounds) {
  ceres::Problem problem;
  add_residuals(problem, sizes, times, theta.data(), bounds);
  fit.rank = rank_of(problem);
  fit.why = active_bound(theta, bounds);
  if (fit.rank < 3)
    fit.why = "the points determine only " + std::to_string(fit.rank) + " of a, B, p";
  if (!fit.why.empty()) return;
  ceres::Covariance::Options options;
  options.algorithm_type = ceres::DENSE_SVD;
  ceres::Covariance covariance(options);
  const std::vector<std::pair<const double*, const double*>> blocks{{theta.data(), theta.data()}};
  if (!covariance.Compute(blocks, &problem)) {
    fit.why = "the covariance could not be computed";
    return;
  }
  std::array<double, 9> block{};
  covariance.GetCovarianceBlock(theta.data(), theta.data(), block.data());
  auto& matrix = fit.covariance.emplace();
  for (std::size_t i = 0; i < 9; ++i) matrix[i / 3][i % 3] = block[i] * fit.rms * fit.rms;
}

}  // namespace

double PNorm::operator()(double n) const {
  const double fixed = std::log(a), moving = std::log(n / b);
  return std::exp(std::max(fixed, moving) +
                  std::log1p(std::exp(-p * std::abs(fixed - moving))) / p);
}

std::optional<PNormFit> fit_p_norm(std::span<const double> sizes, std::span<const double> times,
                                   const PNormSettings& settings) {
  if (sizes.size() != times.size()) throw std::invalid_argument("fit_p_norm: lengths differ");
  const auto positive = [](double value) { return value > 0; };
  if (!std::all_of(sizes.begin(), sizes.end(), positive) ||
      !std::all_of(times.begin(), times.end(), positive)) {
    throw std::invalid_argument("fit_p_norm: sizes and times must be positive");
  }
  if (sizes.size() < 4) return std::nullopt;
  const Bounds bounds = bounds_of(settings);
  Solved best;
  for (const PNorm& start : starts_of(sizes, times, settings)) {
    const Solved solved = solve(sizes, times, start, bounds);
    if (solved.cost < best.cost) best = solved;
  }
  if (!std::isfinite(best.cost)) return std::nullopt;
  PNormFit fit;
  fit.form = {std::exp(best.theta[0]), std::exp(best.theta[1]), std::exp(best.theta[2])};
  fit.rms = std::sqrt(2 * best.cost / static_cast<double>(sizes.size() - 3));
  add_covariance(fit, sizes, times, best.theta, bounds);
  return fit;
}

std::optional<Interval> covariance_interval(const PNormFit& fit, int index, std::size_t points,
                                            double level) {
  if (!fit.covariance || points < 4) return std::nullopt;
  const auto i = static_cast<std::size_t>(index);
  const double deviation = std::sqrt((*fit.covariance)[i][i]);
  const double half = student_t(level, static_cast<double>(points - 3)) * deviation;
  const double value = index == 0 ? fit.form.a : fit.form.b;
  return Interval{value * std::exp(-half), value * std::exp(half)};
}

}  // namespace warpmeter
