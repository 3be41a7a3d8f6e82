// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

namespace warpmeter {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

// Per SM and cycle. f32 lanes: CUDA C++ Programming Guide, table of arithmetic throughput. bf16
// tensor multiply-adds: architecture white papers of A100 (312 Top/s), H100 SXM (989 Top/s dense).
const std::map<std::string, double> f32_lanes = {{"8.0", 64},  {"8.6", 128},  {"8.9", 128},
                                                 {"9.0", 128}, {"10.0", 128}, {"10.3", 128},
                                                 {"12.0", 128}};
const std::map<std::string, double> bf16_tensor = {{"8.0", 1024}, {"9.0", 2048}};

std::optional<double> peak(const std::map<std::string, double>& rates, const Device& device,
                           double sms) {
  const auto rate = rates.find(fact_text(device.facts, "compute_capability"));
  const auto clock = fact_number(device.facts, "clock.sm.max");
  if (rate == rates.end() || !clock || *clock <= 0) return std::nullopt;
  return 2 * rate->second * sms * *clock;
}

}  // namespace

std::vector<double> log_spaced(double lo, double hi, int per_octave, double quantum) {
  std::set<double> values;
  const auto add = [&](double value) {
    values.insert(std::max(1.0, std::round(value / quantum)) * quantum);
  };
  const int steps = static_cast<int>(std::floor(per_octave * std::log2(hi / lo) + 1e-9));
  for (int i = 0; i <= steps; ++i) add(lo * std::exp2(static_cast<double>(i) / per_octave));
  add(hi);
  return {values.begin(), values.end()};
}

double dram_footprint(const Device& device, double quantum) {
  const double l2 = fact_number(device.facts, "cache.l2.size").value_or(0);
  const double total = fact_number(device.facts, "memory.total").value_or(64 * gib);
  return std::ceil(std::max(4 * l2, std::min(gib, total / 64)) / quantum) * quantum;
}

bool beyond_l2(const Device& device, double footprint) {
  const auto l2 = fact_number(device.facts, "cache.l2.size");
  return l2 && footprint >= 4 * *l2;
}

std::optional<double> dram_peak(const Device& device) {
  const auto clock = fact_number(device.facts, "memory.clock.max");
  const auto width_bits = fact_number(device.facts, "memory.bus_width");
  if (!clock || !width_bits || *clock <= 0 || *width_bits <= 0) return std::nullopt;
  return 2 * *clock * *width_bits / 8;
}

std::optional<double> fma_peak(const Device& device, double sms) {
  return peak(f32_lanes, device, sms);
}

std::optional<double> mma_peak(const Device& device, double sms) {
  return peak(bf16_tensor, device, sms);
}

std::optional<std::string> too_large(const Device& device, double bytes) {
  const auto total = fact_number(device.facts, "memory.total");
  if (!total) return "the size of the device's memory is not known";
  if (bytes <= 0.9 * *total) return std::nullopt;
  return fmt::format("needs {} of device memory, it has {}", format_bytes(bytes),
                     format_bytes(*total));
}

std::uint32_t scale_count(double floor_s, std::uint32_t start,
                          const std::function<double(std::uint32_t)>& seconds_of) {
  constexpr double most = 1 << 30;
  double count = std::max(1u, start);
  while (true) {
    const double seconds = seconds_of(static_cast<std::uint32_t>(count));
    if (seconds >= floor_s) return static_cast<std::uint32_t>(count);
    if (count >= most) throw std::runtime_error("the timed loop takes no time");
    // 20 % more than a linear guess, so that one more try usually suffices.
    const double factor = seconds > 0 ? 1.2 * floor_s / seconds : 64.0;
    count = std::min(most, std::ceil(count * std::clamp(factor, 1.5, 64.0)));
  }
}

}  // namespace warpmeter
