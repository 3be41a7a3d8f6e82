// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "microbench/cuda/chase_case.h"
#include "microbench/cuda/rows.h"
#include "microbench/cuda/shared_chase_case.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;
constexpr std::uint64_t seed = 20261201;

// A few points everywhere, more where L1 (16 to 256 KiB) and L2 end; half of L2 too, because on
// parts with two L2 partitions the knee lies there.
std::vector<double> footprints(const Device& device, Effort effort) {
  const double l2 = fact_number(device.facts, "cache.l2.size").value_or(0);
  if (effort == Effort::quick) return log_spaced(4 * kib, 4 * mib, 1, chase_stride);
  const int coarse = effort == Effort::thorough ? 4 : 2;
  const int fine = 2 * coarse;
  std::vector<double> all =
      log_spaced(4 * kib, dram_footprint(device, chase_stride), coarse, chase_stride);
  for (const double value : log_spaced(16 * kib, 512 * kib, fine, chase_stride))
    all.push_back(value);
  if (l2 > 0) {
    for (const double value : log_spaced(l2 / 4, 2 * l2, fine, chase_stride)) all.push_back(value);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double most_shared(const Device& device) {
  // 1 KiB is the block's own, 128 B the kernel's: docs/cuda_benchmarks.md.
  return fact_number(device.facts, "block.shared.max").value_or(0) - kib;
}

std::vector<Parameters> points(const Device& device, Effort effort) {
  std::vector<Parameters> result;
  const auto add = [&](const char* path, double footprint) {
    result.push_back({{"path", path}, {"footprint", footprint}, {"page", "default"}});
  };
  for (const double footprint : footprints(device, effort)) {
    add("ca", footprint);
    add("cg", footprint);
    if (beyond_l2(device, footprint) && effort != Effort::quick) {
      add("cg", footprint);
      result.back()["order"] = "paged";
    }
  }
  if (const double most = most_shared(device); most >= 4 * kib) {
    for (const double footprint : log_spaced(4 * kib, most, 1, chase_stride)) {
      add("shared", std::min(footprint, most - std::fmod(most, chase_stride)));
    }
  }
  return result;
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  const double footprint = number(parameters, "footprint").value_or(0);
  if (word(parameters, "path") != "shared") return too_large(device, footprint);
  if (footprint <= most_shared(device)) return std::nullopt;
  return fmt::format("a block has {} of shared memory at most", format_bytes(most_shared(device)));
}

std::unique_ptr<Case> make(const Device& device, const Parameters& parameters) {
  const double footprint = number(parameters, "footprint").value_or(0);
  const std::string path = word(parameters, "path").value_or("");
  if (path == "shared") return std::make_unique<SharedChaseCase>(device, footprint);
  const std::string order = word(parameters, "order").value_or("random");
  const auto bytes = static_cast<std::size_t>(footprint);
  ChasePlan plan;
  plan.ring = order == "paged" ? paged_ring(bytes, seed) : random_ring(bytes, seed);
  plan.path = path == "ca" ? LoadPath::ca : LoadPath::cg;
  plan.memory_of = device.ordinal;
  plan.cold = beyond_l2(device, footprint);
  plan.conditions = {
      {"footprint", footprint}, {"order", order}, {"stride", chase_stride}, {"seed", seed}};
  return std::make_unique<ChaseCase>(device, std::move(plan));
}

}  // namespace

Benchmark latency_chase_row() {
  Benchmark row;
  row.id = row.quantity = "latency.chase";
  row.unit = Unit::second;
  row.device = DeviceKind::cuda;
  row.method =
      "One thread follows a random single cycle with one node in every 64 B, one load per hop (ca: "
      "ld.global.ca, "
      "cg: ld.global.cg, shared: ld.shared); %globaltimer around the loop over its hops, each "
      "sample "
      "on another SM.";
  row.points = points;
  row.unsupported = unsupported;
  row.make = make;
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return row;
}

}  // namespace warpmeter
