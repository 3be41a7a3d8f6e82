// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <atomic>
#include <memory>

#include "core/error.h"
#include "kernels/host/chase.h"
#include "kernels/host/random.h"
#include "kernels/host/stream.h"
#include "microbench/host/chase_set.h"
#include "microbench/host/clock.h"
#include "microbench/host/hierarchy.h"
#include "microbench/host/host_case.h"
#include "microbench/host/rows.h"
#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

// Streams through memory of its own in bursts, with pauses between, until told to stop.
class Generator {
 public:
  Generator(double bytes, double load) : pages_(static_cast<std::size_t>(bytes), PageKind::huge) {
    pause_per_busy_ = (1 - load) / load;
  }

  void fill(std::uint64_t seed) {
    pages_.populate(0, 1);
    Random random(seed);
    for (std::size_t at = 0; at < pages_.size(); at += sizeof(double))
      *reinterpret_cast<double*>(pages_.data() + at) = random.real(1, 2);
  }

  void run(const std::atomic<bool>& stop) {
    while (!stop.load(std::memory_order_relaxed)) {
      const double begin = now_s();
      sink_ = stream_read(reinterpret_cast<const double*>(pages_.data() + at_),
                          burst_bytes / sizeof(double));
      at_ = at_ + burst_bytes < pages_.size() ? at_ + burst_bytes : 0;
      read_.fetch_add(burst_bytes, std::memory_order_relaxed);
      const double end = now_s();
      while (now_s() < end + (end - begin) * pause_per_busy_) __builtin_ia32_pause();
    }
  }

  std::size_t bytes_read() const { return read_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t burst_bytes = 128 << 10;  // divides a huge page

  Pages pages_;
  double pause_per_busy_ = 0;
  std::size_t at_ = 0;
  volatile std::uint64_t sink_ = 0;
  alignas(128) std::atomic<std::size_t> read_{0};
};

class LoadedCase : public HostCase {
 public:
  LoadedCase(double footprint, double line, int threads, double load)
      : HostCase(first_cores(threads)),
        seed_(fresh_seed()),
        set_(footprint, line, PageKind::huge, seed_, team_),
        at_(set_.checked_heads(1).front()) {
    // Together half of the chased set, twice the last-level cache: a line is gone when they come
    // back to it.
    for (int i = 1; i < threads && load > 0; ++i)
      generators_.push_back(std::make_unique<Generator>(footprint / 2 / (threads - 1), load));
    team_.run([&](int rank) {
      if (has_generator(rank)) generator(rank).fill(seed_ + static_cast<std::uint64_t>(rank));
    });
    rounds_ = calibrate([&](std::size_t rounds) { return run(rounds); });
    load_bytes_ = load_s_ = 0;
    noted_["seed"] = seed_;
    noted_["huge_page_bytes"] = set_.bytes_in_huge_pages();
    noted_["bytes_per_sample"] = static_cast<double>(rounds_ * chase_hops_per_round) * line;
  }

  Sample sample() override {
    const double elapsed_s = run(rounds_);
    return {elapsed_s / static_cast<double>(rounds_ * chase_hops_per_round), elapsed_s};
  }

  Json conditions() const override {
    Json conditions = HostCase::conditions();
    conditions["load_bytes_per_s"] = load_s_ > 0 ? load_bytes_ / load_s_ : 0.0;
    return conditions;
  }

 private:
  bool has_generator(int rank) const { return rank > 0 && !generators_.empty(); }
  Generator& generator(int rank) { return *generators_[static_cast<std::size_t>(rank - 1)]; }
  double bytes_read() const {
    double bytes = 0;
    for (const auto& generator : generators_) bytes += static_cast<double>(generator->bytes_read());
    return bytes;
  }

  // Only the chase is timed, while all generators are under way.
  double run(std::size_t rounds) {
    std::atomic<bool> stop{false};
    double elapsed_s = 0;
    team_.time([&](int rank) {
      if (has_generator(rank)) generator(rank).run(stop);
      if (rank != 0) return;
      const double warm_until = now_s() + 300e-6;
      while (now_s() < warm_until) at_ = chase(at_, 4);
      const double bytes = bytes_read();
      const double begin = now_s();
      at_ = chase(at_, rounds);
      elapsed_s = now_s() - begin;
      load_bytes_ += bytes_read() - bytes;
      load_s_ += elapsed_s;
      stop.store(true);
    });
    return elapsed_s;
  }

  std::uint64_t seed_;
  ChaseSet set_;
  const void* at_;
  std::vector<std::unique_ptr<Generator>> generators_;
  std::size_t rounds_ = 0;
  double load_bytes_ = 0, load_s_ = 0;
};

std::vector<Parameters> points(const Device& device, Effort effort) {
  const Hierarchy hierarchy = read_hierarchy(device.facts);
  std::vector<double> loads{0, 0.25, 0.5, 0.75, 1};
  if (effort == Effort::quick) loads = {1};
  std::vector<Parameters> points;
  for (double load : loads)
    points.push_back({{"footprint", dram_footprint(hierarchy, hierarchy.cores)},
                      {"load", load},
                      {"threads", std::max(2.0, 1.0 * hierarchy.cores)}});
  return points;
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  const int threads = static_cast<int>(require_parameter(parameters, "threads"));
  if (auto reason = threads_reason(device.facts, threads)) return reason;
  if (auto reason = huge_pages_reason(device.facts)) return reason;
  const double footprint = require_parameter(parameters, "footprint");
  if (auto reason = memory_reason(device.facts, 1.5 * footprint)) return reason;
  return residency_reason(device.facts, footprint, threads);
}

std::unique_ptr<Case> make(const Device& device, const Parameters& parameters) {
  return std::make_unique<LoadedCase>(require_parameter(parameters, "footprint"),
                                      read_hierarchy(device.facts).line,
                                      static_cast<int>(require_parameter(parameters, "threads")),
                                      require_parameter(parameters, "load"));
}

}  // namespace

Benchmark loaded_latency() {
  return {
      .id = "latency.loaded",
      .quantity = "latency.loaded",
      .unit = Unit::second,
      .device = DeviceKind::cpu,
      .method =
          "As latency.chase in DRAM (huge pages) on one core, while every other core streams "
          "reads from DRAM in bursts of 128 KiB, busy for the share `load` of the time.",
      .points = points,
      .unsupported = unsupported,
      .make = make,
      .limit = nullptr,
      .work = nullptr,
  };
}

}  // namespace warpmeter
