// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <cmath>

#include "core/stats.h"
#include "tests/calibrator/made_up_runs.h"
#include "tests/calibrator/synthetic.h"

namespace warpmeter {
namespace {

constexpr double l1 = 30e-9, l2 = 200e-9, dram = 500e-9;
constexpr double l1_bytes = 128 * kib, l2_bytes = 4 * mib;

// The mean latency of a cache of `bytes` that is used for `used` bytes.
double latency(double used_of_l1, double used_of_l2) {
  if (used_of_l1 <= l1_bytes) return l1;
  return used_of_l2 <= l2_bytes ? l2 : dram;
}

// A GPU whose lines and sectors are given, as the chases would show it.
Run gpu(double l1_line, double l2_line, double sector) {
  Run run;
  run.device = "cuda:0";
  run.facts["cache.l2.size"] = {l2_bytes, Unit::byte, "test"};
  for (double x = 4 * kib; x <= 64 * mib; x *= std::sqrt(2)) {
    const double footprint = std::round(x / 128) * 128;
    const auto chase = [&](const char* path, double value) {
      add(run, "latency.chase", {{"footprint", footprint}, {"page", "default"}, {"path", path}},
          value);
    };
    chase("ca", latency(footprint, footprint));
    chase("cg", footprint <= l2_bytes ? l2 : dram);
    const double nodes = footprint / 512;
    const auto sparse = [&](const char* path, double value) {
      add(run, "latency.sparse", {{"footprint", footprint}, {"path", path}}, value);
    };
    sparse("ca", latency(nodes * l1_line, nodes * l2_line));
    sparse("cg", nodes * l2_line <= l2_bytes ? l2 : dram);
  }
  for (const double distance : {16.0, 32.0, 64.0, 128.0}) {
    const bool hit = distance < sector;
    const auto pair = [&](const char* path, double inner) {
      add(run, "latency.pair", {{"distance", distance}, {"path", path}},
          (dram + (hit ? inner : dram)) / 2);
    };
    pair("ca", l1);
    pair("cg", l2);
  }
  return run;
}

TEST(Geometry, LinesAndSectorsAreThePlantedOnes) {
  for (const double line : {64.0, 128.0, 256.0}) {
    for (const double sector : {32.0, 64.0}) {
      const Machine machine = calibrate_one(gpu(line, 128, sector));
      EXPECT_EQ(machine.parameters.at("line.l1").value, line);
      EXPECT_EQ(machine.parameters.at("line.l2").value, 128);
      EXPECT_EQ(machine.parameters.at("sector.l1").value, sector);
      EXPECT_EQ(machine.parameters.at("sector.l2").value, sector);
      EXPECT_EQ(machine.parameters.at("line.l1").status, Status::derived);
      EXPECT_EQ(machine.parameters.at("sector.l2").interval, (Interval{sector / 2, sector}));
    }
  }
}

TEST(Geometry, ContradictingPairsGiveNoSector) {
  warpmeter::Run run = gpu(128, 128, 32);
  for (Measurement& m : run.measurements) {
    if (m.quantity == "latency.pair" &&
        m.parameters.at("distance") == Parameters::mapped_type(128.0))
      m.value = (dram + l1) / 2;
  }
  const Parameter sector = calibrate_one(run).parameters.at("sector.l1");
  EXPECT_EQ(sector.status, Status::not_identifiable);
  EXPECT_NE(sector.reason.find("hits up to a distance of 128 B"), std::string::npos)
      << sector.reason;
}

TEST(Geometry, ASweepThatEndsTooEarlyGivesNoLine) {
  warpmeter::Run run = gpu(128, 128, 32);
  std::erase_if(run.measurements, [](const Measurement& m) {
    return m.quantity == "latency.sparse" && *number(m.parameters, "footprint") > 300 * kib;
  });
  const Parameter line = calibrate_one(run).parameters.at("line.l1");
  EXPECT_EQ(line.status, Status::not_identifiable);
  EXPECT_NE(line.reason.find("does not cross"), std::string::npos) << line.reason;
}

TEST(Geometry, NearestAndFarthestLinesKeepTheirNames) {
  warpmeter::Run run = gpu(128, 128, 32);
  add(run, "latency.line", {{"line", "nearest"}}, 190e-9);
  add(run, "latency.line", {{"line", "farthest"}}, 260e-9);
  const Machine machine = calibrate_one(run);
  EXPECT_NEAR(*machine.parameters.at("latency.l2.hit.nearest_pair").value, 190e-9, 1e-15);
  EXPECT_NEAR(*machine.parameters.at("latency.l2.hit.farthest_pair").value, 260e-9, 1e-15);
}

TEST(Throughput, OfADeviceIsNotThatOfOneSm) {
  warpmeter::Run run = gpu(128, 128, 32);
  for (const char* scope : {"sm", "device"}) {
    add(run, "throughput.fma", {{"type", "f32"}, {"scope", scope}, {"phase", "burst"}},
        std::string(scope) == "sm" ? 1e11 : 4e11, Unit::op_per_second);
  }
  EXPECT_NEAR(*calibrate_one(run).parameters.at("throughput.fma.f32.device.burst").value, 4e11, 1);
}

}  // namespace
}  // namespace warpmeter
