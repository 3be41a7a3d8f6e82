// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/gemm_scaled.h"

#include <cmath>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

constexpr double int8_deviation = 32, e4m3_deviation = 16;  // of weights

// Factors around `middle`, none of them a power of two.
void fill_scales(const Operand& scales, std::uint32_t seed, double middle) {
  for (std::int64_t i = 0; i < scales.count; ++i)
    scales.f32()[i] =
        static_cast<float>(middle * std::exp2(0.5 * normal_value(i, seed, 1, Element::f32)));
}

}  // namespace

void fill_scaled_gemm(const GemmShape& shape, std::uint32_t seed, const ScaledGemm& p) {
  const bool integers = shape.type == Element::int8;
  if (integers)
    fill_normal(p.activations, seed, int8_deviation);
  else
    fill_activations(p.activations, shape.k, seed);
  const double deviation = integers ? int8_deviation : e4m3_deviation;
  fill_normal(p.weights, seed + 1, deviation);
  fill_scales(p.token_scales, seed + 2, integers ? 1 / int8_deviation : 1);
  fill_scales(p.channel_scales, seed + 3, 1 / (deviation * std::sqrt(double(shape.k))));
}

void check_scaled_gemm(const GemmShape& shape, const GemmReference& expected, const ScaledGemm& p) {
  require_written(p.result);
  std::size_t i = 0;
  for (const std::int64_t row : expected.rows)
    for (const std::int64_t column : expected.columns) {
      const std::int64_t at = row * shape.n + column;
      const float factor = p.token_scales.f32()[row] * p.channel_scales.f32()[column];
      const double sum = expected.sums[i];
      if (shape.type == Element::int8) {
        const float exact = static_cast<float>(static_cast<std::int32_t>(sum)) * factor;
        require_close("gemm", at, p.result.at(at), bf16_to_float(float_to_bf16(exact)), 0);
      } else {
        const double value = sum * factor;
        const double accumulated = (0x1p-11 + sum_roundoff(shape.k)) * expected.magnitudes[i];
        require_close("gemm", at, p.result.at(at), value,
                      accumulated * factor + store_roundoff(Element::bf16) * std::abs(value));
      }
      ++i;
    }
}

Work scaled_gemm_work(const GemmShape& shape) {
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
             k = static_cast<double>(shape.k);
  Work work;
  work.ops[to_string(shape.type)] = 2 * m * n * k;
  work.ops["f32"] = 2 * m * n;
  work.bytes_read = m * k + n * k + 4 * (m + n);
  work.bytes_written = 2 * m * n;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

}  // namespace warpmeter
