// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// PM sampling and the range profiler against the emulator's own counters of each kernel.
#include <cupti.h>
#include <gtest/gtest.h>

#include "tests/emulator/driver/run.h"

namespace driver_test {
namespace {

// Metrics, and what WARPMETER_EMULATED_COUNTERS calls them.
const std::map<std::string, std::string> counted{
    {"sm__inst_executed.sum", "warp_instructions"},
    {"lts__t_sectors.sum", "l2_sectors"},
    {"lts__t_sectors_lookup_hit.sum", "l2_hits"},
    {"dram__bytes_read.sum", "dram_read_bytes"},
    {"dram__bytes_write.sum", "dram_write_bytes"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "shared_wavefronts"}};

double value(const Json& line, const std::string& metric) {
  return line.at("values").at(metric).get<double>();
}
double logged(const Json& line, const std::string& counter) {
  return line.at("counters").at(counter).get<double>();
}

double sum(const std::vector<Json>& lines, const std::string& metric) {
  double total = 0;
  for (const Json& line : lines) total += value(line, metric);
  return total;
}

TEST(DriverCounters, NamesThatAreNoneAreRefused) {
  const Result result = run("many 1", {{"CLIENT_MODE", "pm"}});
  EXPECT_EQ(result.having("chip")[0]["chip"], "EMULATED_TINY");
  ASSERT_EQ(result.having("wrong").size(), 3u);
  for (const Json& line : result.having("wrong")) {
    EXPECT_EQ(line["refused"], CUPTI_ERROR_INVALID_PARAMETER) << line;
  }
  EXPECT_EQ(result.having("passes")[0]["passes"], 1);
  EXPECT_EQ(result.having("second")[0]["second"], CUPTI_ERROR_INVALID_OPERATION);
  EXPECT_TRUE(result.having("error").empty()) << result.having("error")[0];
}

TEST(DriverCounters, SamplesAddUpToTheKernels) {
  const Result result = run("basic", {{"CLIENT_MODE", "pm"}, {"CLIENT_INTERVAL", "250"}});
  const auto samples = result.having("sample");
  ASSERT_GT(samples.size(), 20u) << result.output;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto begin = samples[i]["start"].get<std::uint64_t>();
    EXPECT_EQ(samples[i]["end"].get<std::uint64_t>() - begin, 250u);
    if (i > 0) {
      EXPECT_EQ(begin, samples[i - 1]["end"].get<std::uint64_t>());
    }
    EXPECT_DOUBLE_EQ(value(samples[i], "sm__cycles_elapsed.max"), 250);  // 1 GHz
    EXPECT_DOUBLE_EQ(value(samples[i], "sm__cycles_elapsed.avg.per_second"), 1e9);
  }
  for (const auto& [metric, counter] : counted) {
    double all = 0;
    for (const Json& kernel : result.counters) all += logged(kernel, counter);
    EXPECT_NEAR(sum(samples, metric), all, 1e-6 * all) << metric;
  }
  EXPECT_NEAR(sum(samples, "sm__ctas_launched.sum"), 16 * 2 + 64, 1e-6);
  EXPECT_NEAR(
      sum(samples, "lts__t_sectors_op_read.sum") + sum(samples, "lts__t_sectors_op_write.sum"),
      sum(samples, "lts__t_sectors.sum"), 1e-6);
  EXPECT_GT(sum(samples, "lts__t_sectors_op_write.sum"), 0);
}

// add_one reads and writes 4096 floats of 4 B in sectors of 32 B; block and thread ids repeat in
// y: eight times as many threads touch each.
TEST(DriverCounters, RangesAreTheKernelsInThem) {
  const Result result = run("basic", {{"CLIENT_MODE", "user_range"}});
  const auto ranges = result.having("range");
  ASSERT_EQ(ranges.size(), 4u) << result.output;
  ASSERT_EQ(result.counters.size(), 2u);
  for (std::size_t i = 0; i < 4; ++i) {  // inner ranges end first
    const Json& kernel = result.counters[i / 2];
    const std::string name = kernel["kernel"];
    EXPECT_EQ(ranges[i]["range"], i % 2 == 0 ? "launch/" + name : "launch");
    for (const auto& [metric, counter] : counted) {
      EXPECT_EQ(value(ranges[i], metric), logged(kernel, counter)) << metric;
    }
    EXPECT_NEAR(value(ranges[i], "sm__cycles_elapsed.max"), kernel["cycles"].get<double>(), 1);
    EXPECT_NEAR(value(ranges[i], "gpu__time_duration.sum"), kernel["cycles"].get<double>(), 1);
  }
  EXPECT_EQ(result.having("ranges")[0]["dropped"], 0);
  EXPECT_EQ(result.having("ranges")[0]["submitted"], 1);
}

TEST(DriverCounters, EveryKernelIsARangeIfAsked) {
  const Result result = run("many 5", {{"CLIENT_MODE", "auto_range"}, {"CLIENT_RANGES", "4"}});
  const auto ranges = result.having("range");
  ASSERT_EQ(ranges.size(), 4u) << result.output;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(ranges[i]["range"], std::to_string(i));
    for (const auto& [metric, counter] : counted) {
      EXPECT_EQ(value(ranges[i], metric), logged(result.counters[i], counter)) << metric;
    }
  }
  EXPECT_EQ(result.having("ranges")[0]["dropped"], 1);
}

TEST(DriverCounters, ASmallBufferLosesSamplesAndSaysSo) {
  const Result result = run(
      "basic", {{"CLIENT_MODE", "pm"}, {"CLIENT_INTERVAL", "250"}, {"CLIENT_HARDWARE", "4096"}});
  EXPECT_EQ(result.having("sample").size(), 4u);
  EXPECT_EQ(result.having("decoded")[0]["overflow"], 1);
}

TEST(DriverCounters, AFullImageIsDecodedInParts) {
  const Result parts =
      run("basic", {{"CLIENT_MODE", "pm"}, {"CLIENT_INTERVAL", "250"}, {"CLIENT_SAMPLES", "3"}});
  const Result whole =
      run("basic", {{"CLIENT_MODE", "pm"}, {"CLIENT_INTERVAL", "250"}, {"CLIENT_SAMPLES", "1000"}});
  EXPECT_GT(parts.having("decoded").size(), 3u);
  ASSERT_EQ(parts.having("sample").size(), whole.having("sample").size());
  EXPECT_EQ(sum(parts.having("sample"), "sm__inst_executed.sum"),
            sum(whole.having("sample"), "sm__inst_executed.sum"));
}

}  // namespace
}  // namespace driver_test
