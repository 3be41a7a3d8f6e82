// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <omp.h>

#include <memory>
#include <set>

#include "core/error.h"
#include "microbench/host/clock.h"
#include "microbench/host/hierarchy.h"
#include "microbench/host/rows.h"
#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

// Runs on the calling thread, as the parallel regions of kernels do.
class ForkJoinCase : public Case {
 public:
  explicit ForkJoinCase(int threads) : threads_(threads) {
    for (int i = 0; i < 100; ++i) look();
    if (seen_ != threads)
      throw UnsupportedError("the OpenMP runtime gives fewer threads than asked for");
    regions_ = calibrate([this](std::size_t regions) { return run(regions); });
  }

  Sample sample() override {
    const double elapsed_s = run(regions_);
    return {elapsed_s / static_cast<double>(regions_), elapsed_s};
  }

  Json conditions() const override {
    const auto* policy = std::getenv("OMP_WAIT_POLICY");
    return {{"threads_seen", seen_},
            {"cpus", cpus_},
            {"omp_proc_bind", static_cast<int>(omp_get_proc_bind())},
            {"omp_wait_policy", policy == nullptr ? "default" : policy}};
  }

 private:
  // One region that is not empty: who takes part, and where.
  void look() {
    std::vector<int> where(static_cast<std::size_t>(threads_), -1);
    int team = 0;
#pragma omp parallel num_threads(threads_) default(none) shared(where, team)
    {
      where[static_cast<std::size_t>(omp_get_thread_num())] = current_cpu();
#pragma omp single
      team = omp_get_num_threads();
    }
    seen_ = team;
    cpus_ = where;
  }

  double run(std::size_t regions) const {
    const int threads = threads_;
    const double begin = now_s();
    for (std::size_t i = 0; i < regions; ++i) {
#pragma omp parallel num_threads(threads)
      asm volatile("" ::: "memory");  // not to be optimized away
    }
    return now_s() - begin;
  }

  int threads_;
  int seen_ = 0;
  std::vector<int> cpus_;
  std::size_t regions_ = 0;
};

std::vector<Parameters> points(const Device& device, Effort) {
  return {{{"threads", 1.0 * read_hierarchy(device.facts).cores}}};
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  return threads_reason(device.facts, static_cast<int>(require_parameter(parameters, "threads")));
}

}  // namespace

Benchmark fork_join() {
  return {
      .id = "launch.fork_join",
      .quantity = "launch.fork_join",
      .unit = Unit::second,
      .device = DeviceKind::cpu,
      .method =
          "Time per empty OpenMP parallel region (GNU runtime, default binding and wait "
          "policy), back to back, so that the workers still spin.",
      .points = points,
      .unsupported = unsupported,
      .make = [](const Device&, const Parameters& parameters) -> std::unique_ptr<Case> {
        return std::make_unique<ForkJoinCase>(
            static_cast<int>(require_parameter(parameters, "threads")));
      },
      .limit = nullptr,
      .work = nullptr,
  };
}

}  // namespace warpmeter
