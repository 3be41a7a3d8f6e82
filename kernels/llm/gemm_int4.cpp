// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/gemm_int4.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace warpmeter {
namespace {

// Of q - z, q even from 0 to 15 and z near 8.
constexpr double deviation = 4.8;

void set(const Operand& operand, std::int64_t index, double value) {
  const auto number = static_cast<float>(value);
  if (operand.type == Element::bf16)
    operand.bf16()[index] = float_to_bf16(number);
  else
    operand.f16()[index] = float_to_f16(number);
}

}  // namespace

NibblePlace int4_place(const GemmShape& shape, std::int64_t n, std::int64_t k) {
  const std::int64_t in_group = k % int4_group, word = in_group / 32, piece = in_group % 32 / 8;
  const auto e = static_cast<int>(k % 8);
  const int nibble = e % 2 * 4 + e / 2;
  return {(n * shape.k + k - in_group) / 2 + 16 * piece + 4 * word + nibble / 2, nibble % 2 * 4};
}

void fill_int4(const GemmShape& shape, std::uint32_t seed, const Operand& weights,
               const Operand& groups, const Operand& plain) {
  const double scale = 1 / (deviation * std::sqrt(static_cast<double>(shape.k)));
  const std::int64_t per_row = shape.k / int4_group;
#pragma omp parallel for schedule(static)
  for (std::int64_t n = 0; n < shape.n; ++n) {
    std::minstd_rand random(seed + static_cast<std::uint32_t>(n) * 7919u);
    std::fill_n(weights.u8() + n * shape.k / 2, shape.k / 2, std::uint8_t{0});
    for (std::int64_t k = 0; k < shape.k; ++k) {
      const std::int64_t group = 2 * (n * per_row + k / int4_group);
      if (k % int4_group == 0) {
        set(groups, group, scale * std::exp2(0.5 * normal_value(group, seed, 1, Element::f32)));
        set(groups, group + 1, static_cast<double>(6 + random() / 65536 % 5));
      }
      const unsigned q = static_cast<unsigned>(random() / 65536 % 16);
      const NibblePlace place = int4_place(shape, n, k);
      weights.u8()[place.byte] =
          static_cast<std::uint8_t>(weights.u8()[place.byte] | q << place.shift);
      plain.f32()[n * shape.k + k] =
          static_cast<float>((q - groups.at(group + 1)) * groups.at(group));
    }
  }
}

Work int4_gemm_work(const GemmShape& shape) {
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
             k = static_cast<double>(shape.k);
  const auto e = static_cast<double>(bytes_of(shape.type));
  const double groups = n * k / static_cast<double>(int4_group);
  Work work;
  work.ops[to_string(shape.type)] = 2 * m * n * k + n * k;
  work.ops["f32"] = 2 * m * groups;
  work.bytes_read = m * k * e + n * k / 2 + 2 * e * groups;
  work.bytes_written = m * n * e;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

}  // namespace warpmeter
