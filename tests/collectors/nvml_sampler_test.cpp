// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvml_sampler.h"

#include <map>
#include <optional>

#include "collectors/nvml_gpm.h"
#include "core/error.h"
#include "nvml_support.h"

namespace warpmeter {
namespace {

using Values = std::map<std::string, std::optional<double>>;

// By name; each at most once.
Values read(NvmlSampler& sampler, std::uint64_t now_ns) {
  Values values;
  sampler.sample(now_ns, 3, [&](const NvmlReading& reading) {
    EXPECT_EQ(reading.start_ns, now_ns);
    EXPECT_EQ(reading.device, 3);
    const auto [entry, added] =
        values.emplace(nvml_quantities()[reading.quantity].name, std::nullopt);
    EXPECT_TRUE(added) << entry->first << " twice";
    if (reading.known) entry->second = reading.value;
  });
  return values;
}

class Sampler : public NvmlTest {};

TEST_F(Sampler, NamesAreOnceAndIndicesRight) {
  std::map<std::string, int> names;
  for (const NvmlQuantity& quantity : nvml_quantities()) ++names[quantity.name];
  EXPECT_EQ(names.size(), nvml_quantities().size());
  EXPECT_STREQ(nvml_quantities()[quantity_power_instant].name, "power.instant");
  EXPECT_STREQ(nvml_quantities()[quantity_energy].name, "energy");
  EXPECT_STREQ(nvml_quantities()[quantity_power_mean].name, "power.mean");
  EXPECT_STREQ(nvml_quantities()[quantity_power_average].name, "power.average");
  EXPECT_STREQ(nvml_quantities()[quantity_clock_sm].name, "clock.sm.instant");
  EXPECT_STREQ(nvml_quantities()[quantity_clock_memory].name, "clock.memory.instant");
  EXPECT_STREQ(nvml_quantities()[quantity_clock_reasons].name, "clock.reasons");
}

TEST_F(Sampler, LevelsAreInSiUnitsAndCountersWaitForASecondReading) {
  NvmlSampler sampler(*nvml, first_uuid, false);
  const Values expected = {
      {"power.instant", 350.5},     {"temperature.memory", 334.15},
      {"clock.sm.instant", 1.98e9}, {"clock.memory.instant", 2.619e9},
      {"clock.reasons", 4},         {"temperature.gpu", 328.15},
      {"utilization.gpu", 0.97},    {"utilization.memory", 0.31},
      {"pcie.generation", 5},       {"pcie.width", 16},
      {"nvlink.links", 9},
  };
  const Values values = read(sampler, 1000);
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(values.count(name)) << name;
    EXPECT_DOUBLE_EQ(values.at(name).value(), value.value()) << name;
  }
  EXPECT_EQ(values.size(), expected.size());
  EXPECT_TRUE(sampler.take_failures().empty());
}

TEST_F(Sampler, CountersGiveTheirGrowthAndEnergyTheMeanPower) {
  NvmlSampler sampler(*nvml, first_uuid, false);
  read(sampler, 1'000'000'000);
  const Values values = read(sampler, 1'125'000'000);
  EXPECT_DOUBLE_EQ(values.at("energy").value(), 40);
  EXPECT_DOUBLE_EQ(values.at("power.mean").value(), 320);  // 40 J in 0.125 s
  EXPECT_DOUBLE_EQ(values.at("pcie.bytes_write").value(), 1000);
  EXPECT_DOUBLE_EQ(values.at("pcie.bytes_read").value(), 2000);
  EXPECT_DOUBLE_EQ(values.at("nvlink.payload_out").value(), 3 * 1024);
  EXPECT_DOUBLE_EQ(values.at("nvlink.payload_in").value(), 4 * 1024);
  EXPECT_DOUBLE_EQ(values.at("nvlink.bytes_out").value(), 5 * 1024);
  EXPECT_DOUBLE_EQ(values.at("nvlink.bytes_in").value(), 6 * 1024);
  for (const char* error : {"crc_flit", "crc_data", "replay", "recovery", "ecc_data"})
    EXPECT_DOUBLE_EQ(values.at(std::string("nvlink.errors.") + error).value(), 1) << error;
  EXPECT_FALSE(values.count("power.average"));
}

TEST_F(Sampler, ACounterThatGoesBackIsNullAndCounted) {
  planted->fields[197].step = -10;
  NvmlSampler sampler(*nvml, first_uuid, false);
  read(sampler, 1);
  EXPECT_FALSE(read(sampler, 2).at("pcie.bytes_write").has_value());
  EXPECT_FALSE(read(sampler, 3).at("pcie.bytes_write").has_value());
  const auto failures = sampler.take_failures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].what, "pcie.bytes_write");
  EXPECT_EQ(failures[0].reason, "the counter went back: it wrapped or was reset");
  EXPECT_EQ(failures[0].count, 2u);
  EXPECT_EQ(failures[0].from_ns, 2u);
  EXPECT_EQ(failures[0].to_ns, 3u);
  EXPECT_FALSE(failures[0].final);
}

TEST_F(Sampler, WithoutPowerOfTheMomentTheAverageStandsIn) {
  planted->fields[186].status = nvml_not_supported;
  NvmlSampler sampler(*nvml, first_uuid, false);
  const Values values = read(sampler, 1);
  EXPECT_FALSE(values.at("power.instant").has_value());
  EXPECT_DOUBLE_EQ(values.at("power.average").value(), 349);
  EXPECT_FALSE(read(sampler, 2).count("power.instant"));
  EXPECT_EQ(planted->fields[186].readings, 1);
}

TEST_F(Sampler, WhatIsNotSupportedOrPermittedIsNullOnce) {
  planted->fields.erase(82);
  planted->status["nvmlDeviceGetUtilizationRates"] = nvml_no_permission;
  planted->status["nvmlDeviceGetNvLinkState"] = nvml_not_supported;
  NvmlSampler sampler(*nvml, first_uuid, false);
  const Values values = read(sampler, 1);
  for (const char* name :
       {"temperature.memory", "utilization.gpu", "utilization.memory", "nvlink.links"}) {
    ASSERT_TRUE(values.count(name)) << name;
    EXPECT_FALSE(values.at(name).has_value()) << name;
  }
  std::map<std::string, std::string> reasons;
  for (const NvmlFailure& failure : sampler.take_failures()) {
    EXPECT_TRUE(failure.final);
    reasons[failure.what] = failure.reason;
  }
  EXPECT_EQ(reasons.at("temperature.memory"), "NVML_ERROR_NOT_SUPPORTED (3)");
  EXPECT_EQ(reasons.at("utilization.gpu"), "NVML_ERROR_NO_PERMISSION (4)");
  EXPECT_EQ(reasons.size(), 4u);
  const Values later = read(sampler, 2);
  for (const auto& [name, reason] : reasons) EXPECT_FALSE(later.count(name)) << name;
  EXPECT_TRUE(sampler.take_failures().empty());
}

TEST_F(Sampler, AnErrorThatMayPassIsAskedAgain) {
  constexpr int not_ready = 27;
  planted->status["sm_clock"] = not_ready;
  NvmlSampler sampler(*nvml, first_uuid, false);
  EXPECT_FALSE(read(sampler, 1).at("clock.sm.instant").has_value());
  planted->status.clear();
  EXPECT_DOUBLE_EQ(read(sampler, 2).at("clock.sm.instant").value(), 1.98e9);
  const auto failures = sampler.take_failures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_FALSE(failures[0].final);
}

TEST_F(Sampler, AfterAGapACounterStartsAnew) {
  NvmlSampler sampler(*nvml, first_uuid, false);
  read(sampler, 1);
  planted->fields[83].status = 999;
  EXPECT_FALSE(read(sampler, 2).at("energy").has_value());
  planted->fields[83].status = 0;
  EXPECT_FALSE(read(sampler, 3).count("energy"));
  EXPECT_DOUBLE_EQ(read(sampler, 4).at("energy").value(), 40);
}

TEST_F(Sampler, ALostDeviceEndsItsReadings) {
  planted->lost_after = 2;
  NvmlSampler sampler(*nvml, first_uuid, false);
  read(sampler, 1);
  read(sampler, 2);
  EXPECT_FALSE(sampler.gone());
  EXPECT_TRUE(read(sampler, 3).empty());
  EXPECT_TRUE(sampler.gone());
  EXPECT_TRUE(read(sampler, 4).empty());
  const auto failures = sampler.take_failures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].what, "device");
  EXPECT_EQ(failures[0].reason, "NVML_ERROR_GPU_IS_LOST (15)");
  EXPECT_EQ(failures[0].from_ns, 3u);
}

TEST_F(Sampler, AnUnknownDeviceIsRefusedByName) {
  try {
    NvmlSampler(*nvml, "GPU-none", false);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("GPU-none: NVML_ERROR_NOT_FOUND (6)"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Sampler, EveryTypeOfFieldIsANumber) {
  for (const int type : {0, 1, 3, 4, 5, 6}) {
    planted->fields[82] = {type, 40, 0};
    NvmlSampler sampler(*nvml, first_uuid, false);
    EXPECT_DOUBLE_EQ(read(sampler, 1).at("temperature.memory").value(), 313.15) << type;
  }
  planted->fields[82] = {77, 40, 0};
  NvmlSampler sampler(*nvml, first_uuid, false);
  EXPECT_FALSE(read(sampler, 1).at("temperature.memory").has_value());
}

class GpmSampler : public NvmlTest {};

TEST_F(GpmSampler, SaysWhyThereIsNone) {
  EXPECT_EQ(NvmlSampler(*nvml, first_uuid, false).gpm_reason(), "not asked for");
  EXPECT_EQ(NvmlSampler(*nvml, first_uuid, true).gpm_reason(),
            "the device has no GPM: it needs Hopper or newer");
  planted->status["nvmlGpmQueryDeviceSupport"] = nvml_no_permission;
  EXPECT_EQ(NvmlSampler(*nvml, first_uuid, true).gpm_reason(),
            "nvmlGpmQueryDeviceSupport: NVML_ERROR_NO_PERMISSION (4)");
}

TEST_F(GpmSampler, MetricsAreMeansOfOneIntervalEach) {
  planted->gpm_supported = true;
  planted->gpm = {{2, 50}, {5, 25}, {10, 80}, {20, 3}, {21, 4}, {60, 5}, {61, 6}};
  {
    NvmlSampler sampler(*nvml, first_uuid, true);
    EXPECT_EQ(sampler.gpm_reason(), "");
    EXPECT_FALSE(read(sampler, 0).count("sm.active"));
    EXPECT_FALSE(read(sampler, NvmlGpm::interval_ns - 1).count("sm.active"));
    const Values values = read(sampler, NvmlGpm::interval_ns);
    EXPECT_DOUBLE_EQ(values.at("sm.active").value(), 0.5);
    EXPECT_DOUBLE_EQ(values.at("gpm.tensor_active").value(), 0.25);
    EXPECT_DOUBLE_EQ(values.at("gpm.dram_bandwidth").value(), 0.8);
    EXPECT_DOUBLE_EQ(values.at("gpm.pcie_out").value(), 3 * 1048576.0);
    EXPECT_DOUBLE_EQ(values.at("gpm.pcie_in").value(), 4 * 1048576.0);
    EXPECT_DOUBLE_EQ(values.at("gpm.nvlink_in").value(), 5 * 1048576.0);
    EXPECT_DOUBLE_EQ(values.at("gpm.nvlink_out").value(), 6 * 1048576.0);
    EXPECT_FALSE(values.at("gpm.fp64_active").has_value());
    EXPECT_EQ(planted->gpm_steps, 1u);
    EXPECT_FALSE(read(sampler, 2 * NvmlGpm::interval_ns).count("gpm.fp64_active"));
    EXPECT_EQ(planted->gpm_steps, 1u);
    EXPECT_EQ(planted->gpm_allocated, 2);
  }
  EXPECT_EQ(planted->gpm_allocated, 0);
}

TEST_F(GpmSampler, OfAMigInstanceIsItsOwnAndItsSensorsAreTheGpus) {
  planted->gpm_supported = true;
  NvmlSampler sampler(*nvml, mig_uuid, true);
  EXPECT_TRUE(sampler.on_mig_instance());
  read(sampler, 1);
  EXPECT_EQ(planted->gpm_device, mig_uuid);
  planted->status["nvmlDeviceGetDeviceHandleFromMigDeviceHandle"] = nvml_no_permission;
  EXPECT_THROW(NvmlSampler(*nvml, mig_uuid, true), InputError);
}

}  // namespace
}  // namespace warpmeter
