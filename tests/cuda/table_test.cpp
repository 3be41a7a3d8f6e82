// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cuda/device.h"

namespace warpmeter {
namespace {

constexpr double mib = 1 << 20;

Device h200() {  // its data sheet and cudaDeviceGetAttribute's documented meaning
  Device device{DeviceKind::cuda, 0, {}};
  device.facts["compute_capability"] = {"9.0", std::nullopt, "test"};
  device.facts["sm.count"] = {132, Unit::one, "test"};
  device.facts["clock.sm.max"] = {1.98e9, Unit::hertz, "test"};
  device.facts["memory.clock.max"] = {3.201e9, Unit::hertz, "test"};
  device.facts["memory.bus_width"] = {6144, Unit::one, "test"};
  device.facts["cache.l2.size"] = {60 * mib, Unit::byte, "test"};
  device.facts["memory.total"] = {141e9, Unit::byte, "test"};
  device.facts["block.shared.max"] = {227.0 * 1024, Unit::byte, "test"};
  return device;
}

Benchmark row(const std::string& id) {
  for (Benchmark& benchmark : cuda_benchmarks()) {
    if (benchmark.id == id) return std::move(benchmark);
  }
  ADD_FAILURE() << "no row " << id;
  return {};
}

std::vector<double> footprints(const std::string& path, Effort effort) {
  std::vector<double> result;
  for (const Parameters& point : row("latency.chase").points(h200(), effort)) {
    if (word(point, "path") == path && !word(point, "order")) {
      result.push_back(*number(point, "footprint"));
    }
  }
  return result;
}

TEST(CudaTable, HasOneCompleteRowPerQuantity) {
  std::set<std::string> ids;
  for (const Benchmark& benchmark : cuda_benchmarks()) {
    EXPECT_TRUE(ids.insert(benchmark.id).second) << benchmark.id;
    EXPECT_EQ(benchmark.id, benchmark.quantity);
    EXPECT_EQ(benchmark.device, DeviceKind::cuda);
    EXPECT_FALSE(benchmark.method.empty());
    EXPECT_TRUE(benchmark.points && benchmark.unsupported && benchmark.make && benchmark.limit);
  }
  const std::set<std::string> expected = {
      "latency.chase", "latency.sparse", "latency.pair",    "latency.line",
      "latency.peer",  "bandwidth.read", "bandwidth.write", "bandwidth.copy",
      "latency.fma",   "throughput.fma", "throughput.mma",  "clock.core",
      "transfer.time", "launch.stream",  "launch.graph",    "launch.stream.first"};
  EXPECT_EQ(ids, expected);
}

TEST(CudaTable, NamesEveryPointOnce) {
  for (const Effort effort : {Effort::quick, Effort::standard, Effort::thorough}) {
    std::set<std::string> ids;
    for (const Benchmark& benchmark : cuda_benchmarks()) {
      const auto points = benchmark.points(h200(), effort);
      EXPECT_FALSE(points.empty()) << benchmark.id;
      for (const Parameters& point : points) {
        const std::string id = measurement_id(benchmark.quantity, point);
        EXPECT_TRUE(ids.insert(id).second) << id;
      }
    }
  }
}

TEST(ChasePoints, ReachFrom4KibToBeyondL2) {
  for (const char* path : {"ca", "cg"}) {
    const auto all = footprints(path, Effort::standard);
    EXPECT_EQ(all.front(), 4096);
    EXPECT_EQ(all.back(), 1024 * mib);  // more than four times 60 MiB
  }
}

TEST(ChasePoints, AreDenseWhereACacheEnds) {
  const auto all = footprints("cg", Effort::standard);
  const auto count = [&](double lo, double hi) {
    return std::count_if(all.begin(), all.end(), [&](double x) { return lo <= x && x < hi; });
  };
  EXPECT_GE(count(128 * 1024, 256 * 1024), 4);  // L1
  EXPECT_GE(count(30 * mib, 60 * mib), 4);      // half of L2 to L2
  EXPECT_GE(count(60 * mib, 120 * mib), 4);
}

TEST(ChasePoints, FitTheSharedMemoryOfABlock) {
  const auto all = footprints("shared", Effort::standard);
  EXPECT_EQ(all.back(), 226 * 1024);
  for (const double footprint : all) EXPECT_EQ(std::fmod(footprint, 128), 0);
}

TEST(BandwidthPoints, OfMemoryLieBeyondL2AndHaveItsLimit) {
  for (const char* id : {"bandwidth.write", "bandwidth.copy"}) {
    const Benchmark benchmark = row(id);
    const auto points = benchmark.points(h200(), Effort::standard);
    for (const Parameters& point : points) {
      EXPECT_GE(*number(point, "footprint"), 1024 * mib);
      EXPECT_NEAR(*benchmark.limit(h200(), point), 4.917e12, 1e9);  // 2 * 3.201e9 * 6144 / 8
    }
  }
}

TEST(BandwidthPoints, InsideL2HaveNoMemoryLimit) {
  const Benchmark benchmark = row("bandwidth.read");
  int inside = 0;
  for (const Parameters& point : benchmark.points(h200(), Effort::standard)) {
    const double footprint = *number(point, "footprint");
    if (word(point, "path") == "cg" && footprint <= 60 * mib) {
      ++inside;
      EXPECT_FALSE(benchmark.limit(h200(), point));
    }
  }
  EXPECT_GE(inside, 4);
}

TEST(Unsupported, GivesTheReason) {
  Device small = h200();
  small.facts["memory.total"] = {512 * mib, Unit::byte, "test"};
  const Benchmark write = row("bandwidth.write");
  const auto reason = write.unsupported(small, {{"footprint", 1024 * mib}});
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("512 MiB"), std::string::npos) << *reason;
  EXPECT_FALSE(write.unsupported(h200(), {{"footprint", 1024 * mib}}));
  const auto shared =
      row("latency.chase").unsupported(h200(), {{"path", "shared"}, {"footprint", 512.0 * 1024}});
  ASSERT_TRUE(shared);
}

TEST(Unsupported, NamesTheMissingPeer) {
  std::string why;
  if (find_cuda_devices(why).size() > 1) GTEST_SKIP() << "this machine has several GPUs";
  const Benchmark peer = row("latency.peer");
  const auto points = peer.points(h200(), Effort::standard);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(peer.unsupported(h200(), points[0]), "this system has only one GPU");
  int peers = 0;
  const Benchmark transfer = row("transfer.time");
  for (const Parameters& point : transfer.points(h200(), Effort::standard)) {
    if (word(point, "direction") != "p2p") continue;
    ++peers;
    EXPECT_EQ(transfer.unsupported(h200(), point), "this system has only one GPU");
  }
  EXPECT_EQ(peers, 2);  // one per engine
}

}  // namespace
}  // namespace warpmeter
