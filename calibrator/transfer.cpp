// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/transfer.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace warpmeter {
namespace {

// Hat functions of the knots at n: a row of the design matrix of a continuous piecewise line.
Eigen::RowVectorXd hats(const std::vector<double>& knots, double n) {
  Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(static_cast<Eigen::Index>(knots.size()));
  std::size_t piece = 0;
  while (piece + 2 < knots.size() && n > knots[piece + 1]) ++piece;
  const double share = (n - knots[piece]) / (knots[piece + 1] - knots[piece]);
  row(static_cast<Eigen::Index>(piece)) = 1 - share;
  row(static_cast<Eigen::Index>(piece) + 1) = share;
  return row;
}

struct Candidate {
  Piecewise form;
  double cost = std::numeric_limits<double>::infinity();
};

Candidate fit_knots(std::span<const double> sizes, std::span<const double> times,
                    std::vector<double> knots) {
  const auto rows = static_cast<Eigen::Index>(sizes.size());
  Eigen::MatrixXd design(rows, static_cast<Eigen::Index>(knots.size()));
  for (Eigen::Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    design.row(i) = hats(knots, sizes[at]) / times[at];  // relative residuals
  }
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(rows);
  const Eigen::VectorXd values = design.colPivHouseholderQr().solve(ones);
  Candidate candidate;
  candidate.form.knots = std::move(knots);
  candidate.form.values.assign(values.begin(), values.end());
  const auto& v = candidate.form.values;
  if (v.front() > 0 && std::is_sorted(v.begin(), v.end())) {
    candidate.cost = (design * values - ones).squaredNorm();
  }
  return candidate;
}

// Fits all sizes but one and predicts that one; null where the fit fails.
template <typename Fit>
std::optional<LeaveOneOut> leave_one_out(std::span<const double> sizes,
                                         std::span<const double> times, Fit fit) {
  LeaveOneOut error;
  if (sizes.size() < 5) return std::nullopt;
  for (std::size_t out = 1; out + 1 < sizes.size(); ++out) {
    std::vector<double> n(sizes.begin(), sizes.end()), t(times.begin(), times.end());
    n.erase(n.begin() + static_cast<std::ptrdiff_t>(out));
    t.erase(t.begin() + static_cast<std::ptrdiff_t>(out));
    const std::optional<double> predicted = fit(n, t, sizes[out]);
    if (!predicted) return std::nullopt;
    const double relative = std::abs(*predicted / times[out] - 1);
    error.mape += relative / static_cast<double>(sizes.size() - 2);
    error.worst = std::max(error.worst, relative);
  }
  return error;
}

}  // namespace

std::optional<AlphaBeta> fit_alpha_beta(std::span<const double> sizes,
                                        std::span<const double> times) {
  const auto rows = static_cast<Eigen::Index>(sizes.size());
  if (rows < 2) return std::nullopt;
  Eigen::MatrixXd design(rows, 2);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    design.row(i) << 1 / times[at], sizes[at] / times[at];
  }
  const Eigen::Vector2d solution = design.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(rows));
  if (solution(1) < 0) return std::nullopt;
  return AlphaBeta{solution(0), 1 / solution(1)};
}

double Piecewise::operator()(double n) const {
  double t = 0;
  const Eigen::RowVectorXd row = hats(knots, n);
  for (std::size_t i = 0; i < values.size(); ++i)
    t += row(static_cast<Eigen::Index>(i)) * values[i];
  return t;
}

std::optional<Piecewise> fit_piecewise(std::span<const double> sizes, std::span<const double> times,
                                       int inner_knots) {
  constexpr std::size_t per_piece = 3;
  const std::size_t count = sizes.size();
  if (count < per_piece) return std::nullopt;
  Candidate best = fit_knots(sizes, times, {sizes.front(), sizes.back()});
  const auto consider = [&](std::vector<double> knots) {
    Candidate candidate = fit_knots(sizes, times, std::move(knots));
    if (candidate.cost < best.cost) best = std::move(candidate);
  };
  for (std::size_t i = per_piece - 1; inner_knots >= 1 && i + per_piece <= count; ++i) {
    consider({sizes.front(), sizes[i], sizes.back()});
    for (std::size_t j = i + per_piece - 1; inner_knots >= 2 && j + per_piece <= count; ++j) {
      consider({sizes.front(), sizes[i], sizes[j], sizes.back()});
    }
  }
  if (!std::isfinite(best.cost)) return std::nullopt;
  return best.form;
}

TransferFits fit_transfer(std::span<const double> sizes, std::span<const double> times) {
  TransferFits fits;
  fits.alpha_beta = fit_alpha_beta(sizes, times);
  fits.p_norm = fit_p_norm(sizes, times);
  fits.piecewise = fit_piecewise(sizes, times, 2);
  using Span = std::span<const double>;
  fits.alpha_beta_error = leave_one_out(sizes, times, [](Span n, Span t, double at) {
    const auto fit = fit_alpha_beta(n, t);
    return fit ? std::optional((*fit)(at)) : std::nullopt;
  });
  if (fits.p_norm) {
    PNormSettings settings;
    settings.start = fits.p_norm->form;
    fits.p_norm_error = leave_one_out(sizes, times, [&](Span n, Span t, double at) {
      const auto fit = fit_p_norm(n, t, settings);
      return fit ? std::optional(fit->form(at)) : std::nullopt;
    });
  }
  fits.piecewise_error = leave_one_out(sizes, times, [](Span n, Span t, double at) {
    const auto fit = fit_piecewise(n, t, 2);
    return fit ? std::optional((*fit)(at)) : std::nullopt;
  });
  return fits;
}

}  // namespace warpmeter
