// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <set>
#include <string>

#include "core/run.h"

namespace warpmeter {
namespace {

struct File {
  const char* name;
  const char* device;
  std::size_t scalars;  // at least, of the names that a machine has as parameters
  std::size_t curves;   // exactly, points of the measured quantities
};

// Keeps addresses out of the test's name.
void PrintTo(const File& file, std::ostream* out) { *out << file.name; }

// The counts are those of the reference data of 2026: a rule that stops matching shows here.
constexpr File files[] = {
    {"v100", "Tesla V100-PCIE-32GB", 46, 293},      {"a100", "NVIDIA A100-SXM4-80GB", 110, 272},
    {"h100_sxm", "NVIDIA H100 80GB HBM3", 39, 94},  {"h200", "NVIDIA H200", 15, 45},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 56, 54},
};

// Quantities of docs/quantities.md that are measured at many points.
const std::set<std::string> curve_names = {
    "latency.chase.cycles", "bandwidth.copy",           "transfer.time",
    "collective.time",      "collective.bus_bandwidth", "throughput.gemm"};

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

class Published : public testing::TestWithParam<File> {
 protected:
  std::filesystem::path file_ =
      std::filesystem::path(WARPMETER_PUBLISHED) / (std::string(GetParam().name) + ".run.json");
};

TEST_P(Published, LoadsAndIsSavedToTheSameBytes) {
  const warpmeter::Run run = load_run(file_);
  const auto copy = std::filesystem::path(testing::TempDir()) / file_.filename();
  save_run(copy, run);
  const std::string before = bytes_of(file_);
  ASSERT_GT(before.size(), 1000u);
  EXPECT_EQ(before, bytes_of(copy));
  std::filesystem::remove(copy);
}

TEST_P(Published, HoldsWhatTheSourcesHave) {
  const warpmeter::Run run = load_run(file_);
  EXPECT_EQ(run.source, Source::published);
  EXPECT_EQ(run.device, GetParam().device);
  EXPECT_TRUE(run.complete);
  std::size_t curves = 0;
  for (const Measurement& item : run.measurements) curves += curve_names.count(item.quantity);
  EXPECT_EQ(curves, GetParam().curves);
  EXPECT_GE(run.measurements.size() - curves, GetParam().scalars);
}

TEST_P(Published, EveryNumberNamesItsSourceAndItsTrust) {
  const warpmeter::Run run = load_run(file_);
  for (const Measurement& item : run.measurements) {
    SCOPED_TRACE(item.id);
    EXPECT_EQ(item.id, measurement_id(item.quantity, item.parameters));
    EXPECT_FALSE(word(item.parameters, "source").value_or("").empty());
    EXPECT_TRUE(usable(item.verdict));
    ASSERT_TRUE(item.value);
    EXPECT_GT(*item.value, 0);
    EXPECT_FALSE(item.interval);
    EXPECT_FALSE(item.reason.empty());
    EXPECT_FALSE(item.method.empty());
    EXPECT_FALSE(item.conditions.at("gpu").get<std::string>().empty());
    ASSERT_EQ(item.evidence.size(), 1u);
    const Json& origin = item.evidence.at(0);
    EXPECT_FALSE(origin.at("title").get<std::string>().empty());
    EXPECT_FALSE(origin.at("where").get<std::string>().empty());
    const std::string trust = origin.at("trust");
    EXPECT_TRUE(trust == "primary" || trust == "secondary") << trust;
    EXPECT_TRUE(origin.at("original").at("value").is_number());
  }
}

TEST_P(Published, EveryFactNamesItsSource) {
  const warpmeter::Run run = load_run(file_);
  EXPECT_EQ(fact_text(run.facts, "product"), GetParam().device);
  EXPECT_TRUE(fact_number(run.facts, "memory.bandwidth"));
  for (const auto& [name, fact] : run.facts) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(fact.source.empty());
    EXPECT_EQ(fact.unit.has_value(), fact.value.is_number());
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Published, testing::ValuesIn(files),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace warpmeter
