// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/sizes.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace warpmeter {
namespace {

constexpr double mib = 1 << 20;

Device device(const std::string& capability, double sms, double clock_hz, double memory_clock_hz,
              double bus_bits, double l2) {
  Device result{DeviceKind::cuda, 0, {}};
  result.facts["compute_capability"] = {capability, std::nullopt, "test"};
  result.facts["sm.count"] = {sms, Unit::one, "test"};
  result.facts["clock.sm.max"] = {clock_hz, Unit::hertz, "test"};
  result.facts["memory.clock.max"] = {memory_clock_hz, Unit::hertz, "test"};
  result.facts["memory.bus_width"] = {bus_bits, Unit::one, "test"};
  result.facts["cache.l2.size"] = {l2, Unit::byte, "test"};
  result.facts["memory.total"] = {40.0 * 1024 * mib, Unit::byte, "test"};
  return result;
}

// A100-SXM4-40GB: 108 SMs at 1410 MHz, 5120 bits at 1215 MHz, 40 MiB of L2.
Device a100() { return device("8.0", 108, 1.41e9, 1.215e9, 5120, 40 * mib); }

TEST(Peaks, AgreeWithPublishedFigures) {
  // A100 data sheet: 1555 GB/s, 19.5 Tflop/s f32, 312 Tflop/s bf16.
  EXPECT_NEAR(*dram_peak(a100()), 1555e9, 1e9);
  EXPECT_NEAR(*fma_peak(a100(), 108), 19.5e12, 0.05e12);
  EXPECT_NEAR(*mma_peak(a100(), 108), 312e12, 1e12);
  // H100 SXM: 132 SMs, 1830 MHz behind the data sheet's 989 Tflop/s; 5120 bits at 2619 MHz: 3352
  // GB/s.
  const Device h100 = device("9.0", 132, 1.83e9, 2.619e9, 5120, 50 * mib);
  EXPECT_NEAR(*mma_peak(h100, 132), 989e12, 1e12);
  EXPECT_NEAR(*fma_peak(h100, 132), 61.8e12, 0.1e12);
  EXPECT_NEAR(*dram_peak(h100), 3352e9, 1e9);
}

TEST(Peaks, OfUnknownPartsAreUnknown) {
  EXPECT_FALSE(mma_peak(device("99.0", 1, 1e9, 1e9, 1, 1), 1));
  EXPECT_FALSE(dram_peak(Device{DeviceKind::cuda, 0, {}}));
  EXPECT_FALSE(dram_peak(device("8.0", 1, 1e9, 0, 5120, 1)));  // some drivers report 0
}

TEST(LogSpaced, HasTheDensityAskedFor) {
  EXPECT_EQ(log_spaced(4096, 16384, 1, 128), (std::vector<double>{4096, 8192, 16384}));
  EXPECT_EQ(log_spaced(4096, 8192, 4, 128),
            (std::vector<double>{4096, 4864, 5760, 6912, 8192}));  // 2^(i/4), to 128 B
}

TEST(LogSpaced, RoundsToTheQuantumWithoutRepeating) {
  EXPECT_EQ(log_spaced(100, 400, 4, 300), (std::vector<double>{300}));
  const auto values = log_spaced(1e6, 9e6, 6, 1e6);
  for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LT(values[i - 1], values[i]);
  EXPECT_EQ(values.back(), 9e6);
}

TEST(DramFootprint, IsFourTimesL2AndAShareOfTheMemoryAtLeast) {
  EXPECT_EQ(dram_footprint(a100(), 128), 640 * mib);  // a 64th of 40 GiB
  EXPECT_EQ(dram_footprint(device("10.0", 1, 1, 1, 1, 512 * mib), 128), 2048 * mib);
  const double quantum = 3 * mib;
  const double rounded = dram_footprint(a100(), quantum);
  EXPECT_GE(rounded, 640 * mib);
  EXPECT_LT(rounded, 640 * mib + quantum);
  EXPECT_TRUE(beyond_l2(a100(), rounded));
  EXPECT_FALSE(beyond_l2(a100(), 159 * mib));
}

TEST(TooLarge, NamesNeedAndSize) {
  EXPECT_FALSE(too_large(a100(), 1024 * mib));
  const auto reason = too_large(a100(), 40.0 * 1024 * mib);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("40 GiB"), std::string::npos) << *reason;
}

TEST(ScaleCount, ReachesTheFloorWithoutWaste) {
  int calls = 0;
  const auto count = scale_count(2e-3, 1, [&](std::uint32_t n) {
    ++calls;
    return 5e-6 + 1e-8 * n;
  });
  EXPECT_GE(5e-6 + 1e-8 * count, 2e-3);
  EXPECT_LE(5e-6 + 1e-8 * count, 6e-3);
  EXPECT_LE(calls, 6);
}

TEST(ScaleCount, RefusesALoopThatTakesNoTime) {
  EXPECT_THROW(scale_count(1e-3, 1, [](std::uint32_t) { return 0.0; }), std::runtime_error);
}

}  // namespace
}  // namespace warpmeter
