// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/operand.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "kernels/llm/vectorized.h"

namespace warpmeter {
namespace {

// A 32-bit integer mix with low bias (Chris Wellons, "Prospecting for hash functions", 2018; public
// domain constants).
inline std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

// Sum of four uniform 16-bit numbers, shifted and scaled to mean 0 and deviation 1: the variance of
// one is (2^32 - 1) / 12, hence the deviation of the sum is 2^16 / sqrt(3).
inline float normal(std::uint32_t seed, std::uint32_t index) {
  const std::uint32_t a = mix(index ^ seed);
  const std::uint32_t b = mix(index + 0x9e3779b9u * (seed | 1u));
  const auto sum = static_cast<std::int32_t>((a & 0xffffu) + (a >> 16) + (b & 0xffffu) + (b >> 16));
  return static_cast<float>(sum - 131070) * 2.64291e-5f;
}

WARPMETER_VECTORIZED
void fill_f32(float* out, std::int64_t first, std::int64_t count, std::uint32_t seed, float scale) {
  for (std::int64_t i = 0; i < count; ++i)
    out[first + i] = scale * normal(seed, static_cast<std::uint32_t>(first + i));
}

WARPMETER_VECTORIZED
void fill_bf16(std::uint16_t* out, std::int64_t first, std::int64_t count, std::uint32_t seed,
               float scale) {
  for (std::int64_t i = 0; i < count; ++i)
    out[first + i] = float_to_bf16(scale * normal(seed, static_cast<std::uint32_t>(first + i)));
}

void fill_f16(std::uint16_t* out, std::int64_t first, std::int64_t count, std::uint32_t seed,
              float scale) {
  for (std::int64_t i = 0; i < count; ++i)
    out[first + i] = float_to_f16(scale * normal(seed, static_cast<std::uint32_t>(first + i)));
}

// int8 rounds, and stops at +-127.
void fill_byte(const Operand& operand, std::int64_t index, float value) {
  if (operand.type == Element::e4m3)
    operand.u8()[index] = float_to_e4m3(value);
  else if (operand.type == Element::int8)
    operand.i8()[index] =
        static_cast<std::int8_t>(std::clamp(std::nearbyint(value), -127.0f, 127.0f));
  else
    throw std::logic_error("no values to fill an operand of " + to_string(operand.type) + " with");
}

float channel_gain(std::int64_t channel, std::uint32_t seed) {
  return mix(static_cast<std::uint32_t>(channel) + 77u * seed) % 128 == 0 ? 8.0f : 1.0f;
}

constexpr std::int64_t chunk = 1 << 16;

}  // namespace

Operand::Operand(std::string name_, Role role_, Element type_, std::int64_t count_,
                 std::size_t size)
    : name(std::move(name_)),
      role(role_),
      type(type_),
      count(count_),
      memory(std::max(size, static_cast<std::size_t>(count_) * bytes_of(type_))) {}

void poison(const Operand& operand) {
  std::memset(operand.memory.data(), 0xff, operand.memory.size());
}

void fill_normal_part(const Operand& operand, std::int64_t first, std::int64_t count,
                      std::uint32_t seed, double deviation) {
  const auto scale = static_cast<float>(deviation);
  if (operand.type == Element::bf16)
    fill_bf16(operand.bf16(), first, count, seed, scale);
  else if (operand.type == Element::f16)
    fill_f16(operand.f16(), first, count, seed, scale);
  else if (operand.type == Element::f32)
    fill_f32(operand.f32(), first, count, seed, scale);
  else
    for (std::int64_t i = first; i < first + count; ++i)
      fill_byte(operand, i, scale * normal(seed, static_cast<std::uint32_t>(i)));
}

void fill_normal(const Operand& operand, std::uint32_t seed, double deviation) {
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < operand.count; first += chunk)
    fill_normal_part(operand, first, std::min(chunk, operand.count - first), seed, deviation);
}

void fill_activations(const Operand& operand, std::int64_t columns, std::uint32_t seed) {
  fill_normal(operand, seed, 1.0);
  for (std::int64_t column = 0; column < columns; ++column) {
    const float gain = channel_gain(column, seed);
    if (gain == 1.0f) continue;  // a power of two otherwise, so the product is exact in any type
    for (std::int64_t i = column; i < operand.count; i += columns) {
      if (bytes_of(operand.type) == 1)
        fill_byte(operand, i, gain * static_cast<float>(operand.at(i)));
      else if (operand.type == Element::bf16)
        operand.bf16()[i] = float_to_bf16(gain * bf16_to_float(operand.bf16()[i]));
      else if (operand.type == Element::f16)
        operand.f16()[i] = float_to_f16(gain * f16_to_float(operand.f16()[i]));
      else
        operand.f32()[i] *= gain;
    }
  }
}

double normal_value(std::int64_t index, std::uint32_t seed, double deviation, Element type) {
  const float value =
      static_cast<float>(deviation) * normal(seed, static_cast<std::uint32_t>(index));
  if (type == Element::f16) return f16_to_float(float_to_f16(value));
  if (type == Element::e4m3) return e4m3_to_float(float_to_e4m3(value));
  if (type == Element::int8) return std::clamp(std::nearbyint(value), -127.0f, 127.0f);
  return type == Element::bf16 ? bf16_to_float(float_to_bf16(value)) : value;
}

std::uint32_t next_seed() {
  static std::atomic<std::uint32_t> count = 0;
  return mix(++count);
}

}  // namespace warpmeter
