// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cmath>

#include "core/error.h"
#include "kernels/host/chase.h"
#include "microbench/host/chase_set.h"
#include "microbench/host/clock.h"
#include "microbench/host/hierarchy.h"
#include "microbench/host/host_case.h"
#include "microbench/host/rows.h"
#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

class InFlightCase : public HostCase {
 public:
  InFlightCase(double footprint, double line, std::size_t chains)
      : HostCase(first_cores(1)),
        line_(line),
        seed_(fresh_seed()),
        set_(footprint, line, PageKind::huge, seed_, team_),
        heads_(set_.checked_heads(chains)) {
    hops_ = calibrate([&](std::size_t hops) { return run(hops); });
    noted_["seed"] = seed_;
    noted_["chains"] = chains;
    noted_["huge_page_bytes"] = set_.bytes_in_huge_pages();
    noted_["bytes_per_sample"] = bytes();
  }

  Sample sample() override {
    const double elapsed_s = run(hops_);
    return {bytes() / elapsed_s, elapsed_s};
  }

 private:
  double bytes() const { return static_cast<double>(hops_ * heads_.size()) * line_; }
  double run(std::size_t hops) {
    return team_.time([&](int) { chase_chains(heads_, hops); });
  }

  double line_;
  std::uint64_t seed_;
  ChaseSet set_;
  std::vector<const void*> heads_;
  std::size_t hops_ = 0;
};

std::vector<Parameters> points(const Device& device, Effort effort) {
  std::vector<int> chains{1, 2, 4, 8, 12, 16, 24, 32};
  if (effort == Effort::quick) chains = {4};
  if (effort == Effort::thorough) {
    chains.clear();
    for (int k = 1; k <= static_cast<int>(max_chains); ++k) chains.push_back(k);
  }
  const Hierarchy hierarchy = read_hierarchy(device.facts);
  std::vector<Parameters> points;
  for (int k : chains)
    points.push_back(
        {{"footprint", dram_footprint(hierarchy, 1)}, {"in_flight", k * hierarchy.line}});
  return points;
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  if (auto reason = huge_pages_reason(device.facts)) return reason;
  const double footprint = require_parameter(parameters, "footprint");
  if (auto reason = memory_reason(device.facts, footprint)) return reason;
  return residency_reason(device.facts, footprint, 1);
}

std::unique_ptr<Case> make(const Device& device, const Parameters& parameters) {
  const double line = read_hierarchy(device.facts).line;
  const double chains = require_parameter(parameters, "in_flight") / line;
  if (chains != std::floor(chains) || chains < 1 || chains > static_cast<double>(max_chains))
    throw InputError("in_flight must be 1 to 32 times the line size");
  return std::make_unique<InFlightCase>(require_parameter(parameters, "footprint"), line,
                                        static_cast<std::size_t>(chains));
}

}  // namespace

Benchmark in_flight_bandwidth() {
  return {
      .id = "bandwidth.in_flight",
      .quantity = "bandwidth.in_flight",
      .unit = Unit::byte_per_second,
      .device = DeviceKind::cpu,
      .method =
          "One core follows in_flight / line independent chains of a random cycle in DRAM "
          "(huge pages) side by side; lines times line size over time.",
      .points = points,
      .unsupported = unsupported,
      .make = make,
      .limit = nullptr,
      .work = nullptr,
  };
}

}  // namespace warpmeter
