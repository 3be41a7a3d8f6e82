// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Chases whose nodes are laid out so that the latency shows the geometry of the caches.
#include <algorithm>
#include <memory>

#include "microbench/cuda/chase_case.h"
#include "microbench/cuda/rows.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

constexpr double kib = 1024;
constexpr std::uint64_t seed = 20261201;

std::unique_ptr<Case> make(const Device& device, const Parameters& parameters, Ring ring) {
  ChasePlan plan;
  plan.ring = std::move(ring);
  plan.path = word(parameters, "path") == "ca" ? LoadPath::ca : LoadPath::cg;
  plan.memory_of = device.ordinal;
  plan.cold = parameters.contains("distance");
  plan.conditions = {{"footprint", plan.ring.bytes}, {"seed", seed}};
  return std::make_unique<ChaseCase>(device, std::move(plan));
}

// A line of 32 to 512 B shows as a knee at 16 times to once the capacity.
std::vector<Parameters> sparse_points(const Device& device, Effort effort) {
  if (effort == Effort::quick) return {{{"path", "cg"}, {"footprint", 4 * kib}}};
  std::vector<Parameters> result;
  const auto add = [&](const char* path, double lo, double hi) {
    for (const double footprint : log_spaced(lo, hi, 4, sparse_stride)) {
      result.push_back({{"path", path}, {"footprint", footprint}});
    }
  };
  const double l2 = fact_number(device.facts, "cache.l2.size").value_or(0);
  add("ca", 16 * kib, std::max(4096 * kib, 8 * l2));
  if (l2 > 0) add("cg", l2 / 2, 24 * l2);
  return result;
}

double pair_footprint(const Device& device) { return 2 * dram_footprint(device, pair_stride); }

std::vector<Parameters> pair_points(const Device&, Effort effort) {
  std::vector<Parameters> result;
  for (const char* path : {"ca", "cg"}) {
    for (const double distance : {16.0, 32.0, 64.0, 128.0}) {
      result.push_back({{"path", path}, {"distance", distance}});
    }
    if (effort == Effort::quick) break;
  }
  return result;
}

}  // namespace

Benchmark latency_sparse_row() {
  Benchmark row;
  row.id = row.quantity = "latency.sparse";
  row.unit = Unit::second;
  row.device = DeviceKind::cuda;
  row.method =
      "latency.chase with one node in every 512 B, in a random 32 B sector: a cache of L lines "
      "holds L nodes, whatever the size of its sectors.";
  row.points = sparse_points;
  row.unsupported = [](const Device& device, const Parameters& parameters) {
    return too_large(device, number(parameters, "footprint").value_or(0));
  };
  row.make = [](const Device& device, const Parameters& parameters) {
    const auto bytes = static_cast<std::size_t>(number(parameters, "footprint").value_or(0));
    return make(device, parameters, sparse_ring(bytes, seed));
  };
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return row;
}

Benchmark latency_pair_row() {
  Benchmark row;
  row.id = row.quantity = "latency.pair";
  row.unit = Unit::second;
  row.device = DeviceKind::cuda;
  row.method =
      "latency.chase beyond L2 with two nodes in every 256 B, the second visited right after the "
      "first and `distance` behind it: mean of a miss and of a load of what the miss has fetched, "
      "or not.";
  row.points = pair_points;
  row.unsupported = [](const Device& device, const Parameters&) {
    return too_large(device, pair_footprint(device));
  };
  row.make = [](const Device& device, const Parameters& parameters) {
    const auto distance = static_cast<std::uint32_t>(number(parameters, "distance").value_or(0));
    const auto bytes = static_cast<std::size_t>(pair_footprint(device));
    return make(device, parameters, pair_ring(bytes, distance, seed));
  };
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return row;
}

}  // namespace warpmeter
