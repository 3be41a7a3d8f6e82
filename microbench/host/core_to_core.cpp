// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <stdexcept>

#include "core/error.h"
#include "kernels/host/ping_pong.h"
#include "microbench/host/clock.h"
#include "microbench/host/hierarchy.h"
#include "microbench/host/host_case.h"
#include "microbench/host/rows.h"
#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

// `from` and `to` count the cores that this process may use, 0 first.
std::vector<int> pair_of(const Parameters& parameters) {
  const std::vector<int>& cores = allowed_cores();
  std::vector<int> pair;
  for (const char* name : {"from", "to"}) {
    const double index = require_parameter(parameters, name);
    if (index < 0 || index >= static_cast<double>(cores.size()))
      throw UnsupportedError("this process may not use both cores");
    pair.push_back(cores[static_cast<std::size_t>(index)]);
  }
  if (pair[0] == pair[1]) throw InputError("from and to must differ");
  return pair;
}

class PingPongCase : public HostCase {
 public:
  explicit PingPongCase(const Parameters& parameters) : HostCase(pair_of(parameters)) {
    run(1000);
    turns_ = calibrate([&](std::size_t turns) { return run(turns); });
    turns_ = std::max<std::size_t>(turns_, 1000);
  }

  Sample sample() override {
    const double elapsed_s = run(turns_);
    return {elapsed_s / (2.0 * static_cast<double>(turns_)), elapsed_s};
  }

 private:
  double run(std::size_t turns) {
    const std::uint64_t before = ball_.count.load();
    const double elapsed_s = team_.time(
        [&](int rank) { ping_pong(ball_, static_cast<std::uint64_t>(rank), before, turns); });
    if (ball_.count.load() != before + 2 * turns)
      throw std::runtime_error("corrupt: two cores lost count of their turns");
    return elapsed_s;
  }

  Ball ball_;
  std::size_t turns_ = 0;
};

// All pairs where that is affordable, else those of the first core and those of neighbours.
std::vector<Parameters> points(const Device& device, Effort effort) {
  const int cores = read_hierarchy(device.facts).cores;
  if (cores == 1) return {{{"from", 0.0}, {"to", 1.0}}};  // to be told that it cannot be had
  std::vector<Parameters> points;
  for (int from = 0; from < cores; ++from) {
    for (int to = from + 1; to < cores; ++to) {
      const bool wanted = effort == Effort::thorough || cores <= 8 || from == 0 || to == from + 1;
      if (wanted && (effort != Effort::quick || points.empty()))
        points.push_back({{"from", 1.0 * from}, {"to", 1.0 * to}});
    }
  }
  return points;
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  const double last =
      std::max(require_parameter(parameters, "from"), require_parameter(parameters, "to"));
  return threads_reason(device.facts, static_cast<int>(last) + 1);
}

}  // namespace

Benchmark core_to_core_latency() {
  return {
      .id = "latency.core_to_core",
      .quantity = "latency.core_to_core",
      .unit = Unit::second,
      .device = DeviceKind::cpu,
      .method = "Two bound threads take turns to increment one cache line; half of a round trip.",
      .points = points,
      .unsupported = unsupported,
      .make = [](const Device&, const Parameters& parameters) -> std::unique_ptr<Case> {
        return std::make_unique<PingPongCase>(parameters);
      },
      .limit = nullptr,
      .work = nullptr,
  };
}

}  // namespace warpmeter
