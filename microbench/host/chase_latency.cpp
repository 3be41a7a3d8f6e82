// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>

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

class ChaseCase : public HostCase {
 public:
  ChaseCase(double footprint, double line, PageKind page)
      : HostCase(first_cores(1)),
        seed_(fresh_seed()),
        set_(footprint, line, page, seed_, team_),
        at_(set_.checked_heads(1).front()) {
    rounds_ = calibrate([&](std::size_t rounds) { return run(rounds); });
    rounds_ = std::max(rounds_, 1024 / chase_hops_per_round);
    noted_["seed"] = seed_;
    noted_["huge_page_bytes"] = set_.bytes_in_huge_pages();
    noted_["bytes_per_sample"] = static_cast<double>(rounds_ * chase_hops_per_round) * line;
  }

  Sample sample() override {
    const double elapsed_s = run(rounds_);
    return {elapsed_s / static_cast<double>(rounds_ * chase_hops_per_round), elapsed_s};
  }

 private:
  double run(std::size_t rounds) {
    return team_.time([&](int) { at_ = chase(at_, rounds); });
  }

  std::uint64_t seed_;
  ChaseSet set_;
  const void* at_;  // goes on where the last sample ended, so that old lines are really old
  std::size_t rounds_ = 0;
};

std::vector<Parameters> points(const Device& device, Effort effort) {
  const std::vector<double> footprints = chase_footprints(read_hierarchy(device.facts), effort);
  std::vector<Parameters> points;
  for (double footprint : footprints)
    points.push_back({{"footprint", footprint}, {"page", "huge"}});
  // Cache sizes are read off the curve with huge pages. The one with 4 KiB pages tells what
  // translation adds, for which every second footprint will do; the largest is one of them.
  const std::size_t step = effort == Effort::thorough ? 1 : 2;
  for (std::size_t i = (footprints.size() - 1) % step; i < footprints.size(); i += step)
    points.push_back({{"footprint", footprints[i]}, {"page", "4k"}});
  return points;
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  if (word(parameters, "page") == "huge")
    if (auto reason = huge_pages_reason(device.facts)) return reason;
  return memory_reason(device.facts, require_parameter(parameters, "footprint"));
}

std::unique_ptr<Case> make(const Device& device, const Parameters& parameters) {
  return std::make_unique<ChaseCase>(require_parameter(parameters, "footprint"),
                                     read_hierarchy(device.facts).line,
                                     parse_page(word(parameters, "page").value_or("huge")));
}

}  // namespace

Benchmark chase_latency() {
  return {
      .id = "latency.chase",
      .quantity = "latency.chase",
      .unit = Unit::second,
      .device = DeviceKind::cpu,
      .method =
          "Time per load along one random cycle over all lines of the footprint, where each "
          "load's result is the next one's address; every line was read once in that order "
          "before, and samples go on where the last one ended.",
      .points = points,
      .unsupported = unsupported,
      .make = make,
      .limit = nullptr,
      .work = nullptr,
  };
}

}  // namespace warpmeter
