// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/pace.h"

#include <gtest/gtest.h>

namespace warpmeter {
namespace {

Device emulated(bool value) {
  Device device{DeviceKind::cuda, 0, {}};
  device.facts["name"] = {"warpmeter emulated tiny", std::nullopt, "test"};
  device.facts["emulated"] = {value, std::nullopt, "test"};
  return device;
}

TEST(Emulated, IsWhatTheFactSays) {
  EXPECT_TRUE(is_emulated(emulated(true)));
  EXPECT_FALSE(is_emulated(emulated(false)));
  EXPECT_FALSE(is_emulated(Device{DeviceKind::cuda, 0, {}}));
}

// Silicon settles, heats and must outlast its timer's steps (1 us at worst); only the emulated GPU
// may be hurried.
TEST(Pace, OfHardwareIsNotThatOfTheEmulator) {
  const Pace real = pace_of(Device{DeviceKind::cuda, 0, {}});
  EXPECT_GE(real.sample_s, 1000 * 1e-6);
  EXPECT_GE(real.first_heat_s, 1);
  EXPECT_GE(static_cast<double>(real.probe_cycles) / 2e9, 1000 * 1e-6);
  const Pace fast = pace_of(emulated(true));
  EXPECT_LT(fast.sample_s, real.sample_s);
  EXPECT_EQ(fast.first_heat_s, 0);
}

}  // namespace
}  // namespace warpmeter
