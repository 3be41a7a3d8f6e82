// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <Eigen/LU>

#include "profiler/deconvolution_equations.h"

namespace warpmeter {
namespace {

// Launches of which more is on both sides of a boundary say little of where it is, ns.
constexpr double clear_cut = 3000;

}  // namespace

void BoundaryFit::add(double product, double rate_squared, double parts_product) {
  const double weight = 1 / (1 + parts_product / (clear_cut * clear_cut));
  const Eigen::Vector3d terms =
      weight * Eigen::Vector3d(-rate_squared, rate_squared * parts_product, product);
  const Eigen::Matrix3d square = terms * terms.transpose();
  moments_ += square;
  fourth_ += square.reshaped() * square.reshaped().transpose();
}

std::optional<std::pair<double, double>> BoundaryFit::variance() const {
  Eigen::Matrix2d matrix = moments_.topLeftCorner<2, 2>();
  if (!(matrix(0, 0) > 0)) return std::nullopt;
  if (!(matrix(1, 1) > 0)) matrix(1, 1) = 1;  // no launch is cut
  if (!(matrix.determinant() > 1e-9 * matrix(0, 0) * matrix(1, 1))) return std::nullopt;
  const Eigen::Matrix2d inverse = matrix.inverse();
  const Eigen::Vector2d found = inverse * moments_.block<2, 1>(0, 2);
  const Eigen::Vector3d residual(-found[0], -found[1], 1),
      influence(inverse(0, 0), inverse(0, 1), 0);
  const Eigen::Matrix3d outer = influence * residual.transpose();
  return std::pair(found[0], outer.reshaped().dot(fourth_ * outer.reshaped()));
}

}  // namespace warpmeter
