// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/error.h"
#include "microbench/host/table.h"
#include "tests/microbench/made_up_host.h"

namespace warpmeter {
namespace {

constexpr double kib = 1024, mib = 1024 * kib;

Device made_up_device(int cores) {
  Device device;
  device.facts = made_up_host(cores, 48 * kib, 2 * mib, 30 * mib);
  return device;
}

const Benchmark& row(const std::string& id) {
  static const std::vector<Benchmark> rows = host_benchmarks();
  for (const Benchmark& row : rows)
    if (row.id == id) return row;
  throw std::out_of_range(id);
}

// docs/quantities.md
const std::map<std::string, std::set<std::string>> documented{
    {"clock.core", {"threads", "load"}},
    {"latency.chase", {"footprint", "page"}},
    {"latency.loaded", {"footprint", "load", "threads"}},
    {"bandwidth.in_flight", {"in_flight", "footprint"}},
    {"bandwidth.read", {"footprint", "threads", "page"}},
    {"bandwidth.write", {"footprint", "threads", "page", "stores"}},
    {"bandwidth.copy", {"footprint", "threads", "page", "stores"}},
    {"bandwidth.triad", {"footprint", "threads", "page"}},
    {"latency.fma", {"type"}},
    {"throughput.fma", {"type", "threads", "phase"}},
    {"latency.core_to_core", {"from", "to"}},
    {"launch.fork_join", {"threads"}},
};

TEST(HostRows, AreTheDocumentedOnes) {
  std::set<std::string> ids, expected;
  for (const auto& [id, parameters] : documented) expected.insert(id);
  for (const Benchmark& row : host_benchmarks()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_EQ(row.id, row.quantity);
    EXPECT_EQ(row.device, DeviceKind::cpu);
    EXPECT_FALSE(row.method.empty());
  }
  EXPECT_EQ(ids, expected);
}

TEST(HostRows, HaveDistinctPointsWithDocumentedParameters) {
  for (int cores : {1, 2, 12}) {
    const Device device = made_up_device(cores);
    for (const Benchmark& row : host_benchmarks()) {
      for (Effort effort : {Effort::quick, Effort::standard, Effort::thorough}) {
        std::set<std::string> seen;
        for (const Parameters& point : row.points(device, effort)) {
          EXPECT_TRUE(seen.insert(to_string(point)).second) << row.id << ' ' << to_string(point);
          for (const auto& [name, value] : point)
            EXPECT_TRUE(documented.at(row.id).contains(name)) << row.id << ' ' << name;
        }
        EXPECT_FALSE(seen.empty()) << row.id;
      }
    }
  }
}

std::optional<std::string> reason(const Device& device, const std::string& id) {
  const std::vector<Parameters> points = row(id).points(device, Effort::standard);
  return row(id).unsupported(device, points.back());
}

TEST(Unsupported, OnOneCore) {
  const Device one = made_up_device(1), two = made_up_device(2);
  for (const char* id : {"latency.loaded", "latency.core_to_core"}) {
    ASSERT_NE(reason(one, id), std::nullopt) << id;
    EXPECT_NE(reason(one, id)->find("one core only"), std::string::npos);
    EXPECT_EQ(reason(two, id), std::nullopt) << id;
  }
  for (const char* id : {"latency.chase", "bandwidth.read", "launch.fork_join", "clock.core"})
    EXPECT_EQ(reason(one, id), std::nullopt) << id;
}

TEST(Unsupported, WithoutTheInstruction) {
  Device device = made_up_device(2);
  const Benchmark& fma = row("throughput.fma");
  const auto point = [](const char* type) {
    return Parameters{{"type", type}, {"threads", 1.0}, {"phase", "burst"}};
  };
  EXPECT_EQ(fma.unsupported(device, point("f64")), std::nullopt);
  EXPECT_EQ(fma.unsupported(device, point("bf16")), "this CPU has no avx512_bf16");
  EXPECT_EQ(fma.unsupported(device, point("int8")), "this CPU has no avx512_vnni");
  device.facts["cpu.isa.avx512_bf16"].value = true;
  device.facts["cpu.isa.avx512_vnni"].value = true;
  EXPECT_EQ(fma.unsupported(device, point("bf16")), std::nullopt);
  EXPECT_EQ(fma.unsupported(device, point("int8")), std::nullopt);
}

TEST(Unsupported, WithLittleMemory) {
  Device device = made_up_device(2);
  device.facts["memory.available"].value = 100 * mib;
  EXPECT_NE(reason(device, "latency.chase")->find("memory"), std::string::npos);
  // 50 MiB may be used, and the last level holds 30.
  for (const char* id : {"latency.loaded", "bandwidth.in_flight"})
    EXPECT_NE(reason(device, id)->find("memory"), std::string::npos) << id;
  // The bandwidth sweeps end where memory does.
  EXPECT_EQ(reason(device, "bandwidth.read"), std::nullopt);
  const auto points = row("bandwidth.read").points(device, Effort::standard);
  for (const Parameters& point : points) EXPECT_LE(*number(point, "footprint"), 50 * mib);
}

TEST(Unsupported, WithoutHugePages) {
  Device device = made_up_device(2);
  device.facts["page.huge.transparent"].value = "always madvise [never]";
  for (const char* id : {"latency.loaded", "bandwidth.in_flight", "bandwidth.copy"})
    EXPECT_NE(reason(device, id)->find("no huge pages"), std::string::npos) << id;
  const Benchmark& chase = row("latency.chase");
  EXPECT_NE(chase.unsupported(device, {{"footprint", 4096.0}, {"page", "huge"}}), std::nullopt);
  EXPECT_EQ(chase.unsupported(device, {{"footprint", 4096.0}, {"page", "4k"}}), std::nullopt);
}

TEST(Make, RefusesImpossibleParameters) {
  const Device device = made_up_device(2);
  const auto make = [&](const char* id, const Parameters& point) { row(id).make(device, point); };
  EXPECT_THROW(make("latency.chase", {{"footprint", 4096.0}, {"page", "1g"}}), InputError);
  EXPECT_THROW(make("latency.chase", {{"page", "4k"}}), InputError);
  EXPECT_THROW(make("bandwidth.in_flight", {{"footprint", 4e6}, {"in_flight", 100.0}}), InputError);
  EXPECT_THROW(make("bandwidth.in_flight", {{"footprint", 4e6}, {"in_flight", 33 * 64.0}}),
               InputError);
  EXPECT_THROW(make("latency.fma", {{"type", "f16"}}), InputError);
  EXPECT_THROW(make("throughput.fma", {{"type", "f64"}, {"threads", 1.0}, {"phase", "slow"}}),
               InputError);
  EXPECT_THROW(make("clock.core", {{"load", "none"}, {"threads", 1.0}}), InputError);
  EXPECT_THROW(make("latency.core_to_core", {{"from", 0.0}, {"to", 0.0}}), InputError);
  EXPECT_THROW(make("bandwidth.read", {{"footprint", 4096.0}, {"threads", 9999.0}}),
               UnsupportedError);
}

// Every row runs here, on small sets, or says why not. Nothing is asked of the numbers but that a
// machine could have given them.
TEST(HostRows, RunOnThisMachine) {
  Device device;
  device.facts = read_host_facts();
  for (const Benchmark& row : host_benchmarks()) {
    for (const Parameters& point : row.points(device, Effort::quick)) {
      if (number(point, "footprint").value_or(0) > 64 * mib) continue;
      if (row.unsupported(device, point)) continue;
      SCOPED_TRACE(measurement_id(row.id, point));
      try {
        const std::unique_ptr<Case> one = row.make(device, point);
        const Sample sample = one->sample();
        EXPECT_TRUE(std::isfinite(sample.value));
        EXPECT_GT(sample.value, 0);
        EXPECT_GT(sample.elapsed_s, 0);
        EXPECT_TRUE(one->conditions().contains("cpus"));
      } catch (const UnsupportedError& error) {
        EXPECT_STRNE(error.what(), "");
      }
    }
  }
}

}  // namespace
}  // namespace warpmeter
