// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Planted faults: WARPMETER_EMULATED_CUPTI.
#include <cupti.h>
#include <gtest/gtest.h>

#include "tests/emulator/driver/run.h"

namespace driver_test {
namespace {

constexpr int kernel = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

Result with(const char* faults, const char* arguments = "many 10", Environment environment = {}) {
  environment["WARPMETER_EMULATED_CUPTI"] = faults;
  return run(arguments, environment);
}

// The result of a call that failed.
int error_of(const Result& result, const char* call) {
  for (const Json& line : result.having("error")) {
    if (line["error"] == call) return line["result"];
  }
  return 0;
}

TEST(DriverFaults, AnotherSubscriberIsNamed) {
  const Result result = with("subscribe=39,subscriber=CUPTI for nsys");
  EXPECT_EQ(error_of(result, "subscribe"), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  ASSERT_EQ(result.having("holder").size(), 1u);
  EXPECT_EQ(result.having("holder")[0]["holder"], "CUPTI for nsys");
  EXPECT_EQ(result.status, 0) << "the program runs on";
}

TEST(DriverFaults, OnlyOneMaySubscribe) {
  EXPECT_EQ(run("many 1").having("second")[0]["second"],
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

TEST(DriverFaults, RecordsCanBeRefused) {
  const Result result = with("activity=15");
  EXPECT_EQ(error_of(result, "enable"), CUPTI_ERROR_NOT_INITIALIZED);
  EXPECT_TRUE(result.records(kernel).empty());
}

TEST(DriverFaults, NothingWorksWithoutInitialization) {
  EXPECT_EQ(error_of(with("init=999"), "subscribe"), CUPTI_ERROR_UNKNOWN);
}

TEST(DriverFaults, TheVersionCanBeAnother) {
  EXPECT_EQ(with("version=120000").having("injected")[0]["version"], 120000);
}

TEST(DriverFaults, EveryThirdKernelHasNoTimes) {
  const auto kernels = with("zero_times=3").records(kernel);
  ASSERT_EQ(kernels.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(kernels[i]["start"] == 0 && kernels[i]["end"] == 0, (i + 1) % 3 == 0) << i;
  }
}

TEST(DriverFaults, DroppedRecordsAreCounted) {
  const Result all = run("many 10");
  const Result result = with("drop=4");
  std::size_t dropped = result.having("finished")[0]["dropped"];
  for (const Json& line : result.having("buffer")) dropped += line["dropped"].get<std::size_t>();
  EXPECT_EQ(dropped, all.having("kind").size() / 4);
  EXPECT_EQ(result.having("kind").size() + dropped, all.having("kind").size());
}

TEST(DriverFaults, CorrelationsWrapAround) {
  const auto kernels = with("correlation=4294967290").records(kernel);
  ASSERT_EQ(kernels.size(), 10u);
  EXPECT_GT(kernels.front()["correlation"], kernels.back()["correlation"]);
}

TEST(DriverFaults, CountersCanBeForbidden) {
  EXPECT_EQ(error_of(with("pm=35", "many 1", {{"CLIENT_MODE", "pm"}}), "pm enable"),
            CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(error_of(with("range=35", "many 1", {{"CLIENT_MODE", "user_range"}}), "range enable"),
            CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
}

TEST(DriverFaults, TheChipCanBeUnknown) {
  const Result result = with("chip=XX999", "many 1", {{"CLIENT_MODE", "pm"}});
  EXPECT_EQ(result.having("chip")[0]["chip"], "XX999");
  EXPECT_EQ(error_of(result, "host"), CUPTI_ERROR_INVALID_CHIP_NAME);
}

TEST(DriverFaults, OneCounterCountsMore) {
  const Result result =
      with("scale=dram__bytes_read.sum:1.5", "basic", {{"CLIENT_MODE", "user_range"}});
  const auto ranges = result.having("range");
  ASSERT_EQ(ranges.size(), 4u) << result.output;
  for (std::size_t i = 0; i < 4; ++i) {
    const Json& truth = result.counters[i / 2]["counters"];
    const Json& values = ranges[i]["values"];
    EXPECT_EQ(values["dram__bytes_read.sum"], 1.5 * truth["dram_read_bytes"].get<double>());
    EXPECT_EQ(values["dram__bytes_write.sum"], truth["dram_write_bytes"].get<double>());
  }
}

TEST(DriverFaults, TooManyMetricsNeedPasses) {
  const Result result = with("per_pass=5", "many 1", {{"CLIENT_MODE", "pm"}});
  EXPECT_EQ(result.having("passes")[0]["passes"], 3) << "twelve metrics";
  EXPECT_EQ(error_of(result, "pm config"), CUPTI_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace driver_test
