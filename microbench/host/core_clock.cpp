// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <memory>
#include <string>

#include "core/error.h"
#include "kernels/host/add_chain.h"
#include "microbench/host/clock.h"
#include "microbench/host/fma_work.h"
#include "microbench/host/hierarchy.h"
#include "microbench/host/host_case.h"
#include "microbench/host/rows.h"
#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

enum class Load { scalar, vector };

// A core keeps the clock of heavy vector work for some 0.7 ms after the last heavy instruction
// (Intel's optimization manual), so a chain of 50 us still sees it.
constexpr double burst_s = 500e-6;
constexpr double chain_s = 50e-6;
constexpr int turns = 20;  // a millisecond of chains

class ClockCase : public HostCase {
 public:
  ClockCase(int threads, Load load) : HostCase(first_cores(threads)), load_(load) {
    works_.resize(static_cast<std::size_t>(threads));
    readings_.resize(works_.size());
    const std::uint64_t seed = fresh_seed();
    team_.run([&](int rank) {
      auto& work = works_[static_cast<std::size_t>(rank)];
      work = make_fma_work(FmaType::f32, seed + static_cast<std::uint64_t>(rank));
      work->verify();
    });
    for (int i = 0; i < 3; ++i) run();
    noted_["vectors"] = vector_target();
  }

  Sample sample() override {
    const double elapsed_s = run();
    // The slowest core is the one that a parallel program waits for.
    return {*std::min_element(readings_.begin(), readings_.end()), elapsed_s};
  }

 private:
  double run() {
    return team_.time([&](int rank) {
      const auto index = static_cast<std::size_t>(rank);
      double sum = 0;
      for (int turn = 0; turn < turns; ++turn) {
        const double until = now_s() + burst_s;
        while (load_ == Load::vector && now_s() < until) works_[index]->run(8);
        sum += 1 / core_clock_hz(chain_s / 3);
      }
      readings_[index] = turns / sum;
    });
  }

  Load load_;
  std::vector<std::unique_ptr<FmaWork>> works_;
  std::vector<double> readings_;  // Hz, per thread
};

std::vector<Parameters> points(const Device& device, Effort effort) {
  std::vector<int> threads = thread_counts(read_hierarchy(device.facts), effort);
  if (threads.size() > 2) threads = {1, threads.back()};
  std::vector<Parameters> points;
  for (const char* load : {"scalar", "vector"})
    for (int count : threads) points.push_back({{"load", load}, {"threads", 1.0 * count}});
  return points;
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  return threads_reason(device.facts, static_cast<int>(require_parameter(parameters, "threads")));
}

std::unique_ptr<Case> make(const Device&, const Parameters& parameters) {
  const std::string load = word(parameters, "load").value_or("");
  if (load != "scalar" && load != "vector") throw InputError("load must be scalar or vector");
  return std::make_unique<ClockCase>(static_cast<int>(require_parameter(parameters, "threads")),
                                     load == "scalar" ? Load::scalar : Load::vector);
}

}  // namespace

Benchmark core_clock() {
  return {
      .id = "clock.core",
      .quantity = "clock.core",
      .unit = Unit::hertz,
      .device = DeviceKind::cpu,
      .method =
          "Additions over time in chains of dependent one-cycle additions of 50 us (each the "
          "fastest of three parts); vector: each chain right after 0.5 ms of multiply-adds "
          "on the widest vectors; the slowest core.",
      .points = points,
      .unsupported = unsupported,
      .make = make,
      .limit = nullptr,
      .work = nullptr,
  };
}

}  // namespace warpmeter
