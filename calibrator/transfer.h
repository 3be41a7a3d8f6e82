// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "calibrator/p_norm_fit.h"

namespace warpmeter {

// t(n) = alpha + n/beta. beta is infinite if time does not grow with size.
struct AlphaBeta {
  double alpha = 0;  // s
  double beta = 0;   // B/s
  double operator()(double n) const { return alpha + n / beta; }
};

// Weights 1/t^2, so that each point counts by its relative error: unweighted, the largest sizes
// alone decide alpha. Null for fewer than 2 sizes or if beta comes out negative.
std::optional<AlphaBeta> fit_alpha_beta(std::span<const double> sizes,
                                        std::span<const double> times);

// Continuous and linear between knots, by rising size; the first and last knots are the first and
// last size. Beyond them the outer pieces go on.
struct Piecewise {
  std::vector<double> knots;   // sizes, at least 2
  std::vector<double> values;  // t at the knots
  double operator()(double n) const;
};

// At most `inner_knots` (0 to 2) knots at measured sizes, at least 3 points per piece, slopes not
// negative, weights 1/t^2. sizes must rise. Null for fewer than 3 points.
std::optional<Piecewise> fit_piecewise(std::span<const double> sizes, std::span<const double> times,
                                       int inner_knots);

// Relative error of predicting a point from a fit to the others, over all interior points.
struct LeaveOneOut {
  double mape = 0;   // mean absolute, 0.05 is 5 %
  double worst = 0;  // largest absolute
};

// Every form on the same points; a form that cannot be fitted is null. sizes must rise.
struct TransferFits {
  std::optional<AlphaBeta> alpha_beta;
  std::optional<PNormFit> p_norm;
  std::optional<Piecewise> piecewise;
  std::optional<LeaveOneOut> alpha_beta_error, p_norm_error, piecewise_error;
};
TransferFits fit_transfer(std::span<const double> sizes, std::span<const double> times);

}  // namespace warpmeter
