// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/adam.h"

#include <cmath>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

constexpr double w_deviation = 0.02, gradient_deviation = 1e-3;

// What fill_adam wrote.
AdamElement filled(std::uint32_t seed, std::int64_t at) {
  const auto root =
      static_cast<float>(normal_value(at, seed + 2, gradient_deviation, Element::f32));
  return {normal_value(at, seed, w_deviation, Element::f32),
          normal_value(at, seed + 1, gradient_deviation, Element::f32), double{root * root}};
}

void check_element(const AdamFactors& f, std::int64_t at, const AdamElement& before,
                   const AdamOperands& operands) {
  const double u = unit_roundoff(Element::f32), g = operands.gradient.at(at);
  const AdamElement right = adam_element(f, before, g);
  const double m_error = 3 * u * (std::abs(f.beta1 * before.m) + std::abs(f.one_less_beta1 * g));
  require_close("m", at, operands.m.at(at), right.m, m_error);
  require_close("v", at, operands.v.at(at), right.v, 4 * u * right.v);
  const double denominator = std::sqrt(right.v * f.square_correction) + f.epsilon;
  const double quotient = right.m * f.mean_correction / denominator;
  const double quotient_error =
      m_error * f.mean_correction / denominator + 8 * u * std::abs(quotient);
  require_close("w", at, operands.w.at(at), right.w,
                2 * u * std::abs(before.w) +
                    f.rate * (quotient_error + 2 * u * f.decay * std::abs(before.w)));
  require_close("copy", at, operands.copy.at(at),
                bf16_to_float(float_to_bf16(operands.w.f32()[at])), 0);
}

}  // namespace

Work adam_work(const RowsShape& shape) {
  const auto elements = static_cast<double>(shape.rows * shape.columns);
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops["f32"] = 16 * elements;
  work.bytes_read = elements * (12 + e);
  work.bytes_written = elements * 14;
  work.working_set = elements * (14 + e);
  return work;
}

AdamFactors adam_factors(int step) {
  constexpr double beta1 = 0.9, beta2 = 0.95;
  return {static_cast<float>(beta1),
          static_cast<float>(1 - beta1),
          static_cast<float>(beta2),
          static_cast<float>(1 - beta2),
          static_cast<float>(1 / (1 - std::pow(beta1, step))),
          static_cast<float>(1 / (1 - std::pow(beta2, step))),
          3e-4f,
          1e-8f,
          0.1f};
}

AdamElement adam_element(const AdamFactors& f, const AdamElement& before, double gradient) {
  AdamElement after;
  after.m = f.beta1 * before.m + f.one_less_beta1 * gradient;
  after.v = f.beta2 * before.v + f.one_less_beta2 * gradient * gradient;
  const double quotient =
      after.m * f.mean_correction / (std::sqrt(after.v * f.square_correction) + f.epsilon);
  after.w = before.w - f.rate * (quotient + f.decay * before.w);
  return after;
}

void fill_adam(std::uint32_t seed, const AdamOperands& operands) {
  fill_normal(operands.w, seed, w_deviation);
  fill_normal(operands.m, seed + 1, gradient_deviation);
  fill_normal(operands.v, seed + 2, gradient_deviation);
  float* v = operands.v.f32();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < operands.v.count; ++i) v[i] *= v[i];
  fill_normal(operands.gradient, seed + 3, gradient_deviation);
}

void check_adam(const AdamFactors& factors, std::uint32_t seed,
                std::span<const std::int64_t> elements, const AdamOperands& operands) {
  require_written(operands.copy);
  for (const std::int64_t at : elements) check_element(factors, at, filled(seed, at), operands);
}

}  // namespace warpmeter
