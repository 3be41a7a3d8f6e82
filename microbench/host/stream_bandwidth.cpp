// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "kernels/host/fma.h"
#include "microbench/host/clock.h"
#include "microbench/host/hierarchy.h"
#include "microbench/host/host_case.h"
#include "microbench/host/rows.h"
#include "microbench/host/stream_set.h"
#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

// Bytes of one unit of every array of every thread: footprints are multiples of it.
double granule(StreamKind kind, int threads) {
  return static_cast<double>(array_count(kind) * StreamSet::unit_bytes) * threads;
}

class StreamCase : public HostCase {
 public:
  StreamCase(StreamKind kind, StoreKind stores, double footprint, int threads, double caches)
      : HostCase(first_cores(threads)), granule_(granule(kind, threads)) {
    const auto units = static_cast<std::size_t>(std::max(1.0, footprint / granule_));
    const std::uint64_t seed = fresh_seed();
    sets_.resize(static_cast<std::size_t>(threads));
    team_.run([&](int rank) {
      auto& set = sets_[static_cast<std::size_t>(rank)];
      set = std::make_unique<StreamSet>(kind, stores, units);
      set->prepare(seed + static_cast<std::uint64_t>(rank));
    });
    units_ = calibrate([&](std::size_t n) { return run(n); });
    // Sets that are passed over many times in a sample: whole passes only.
    if (units_ > units) units_ = (units_ + units - 1) / units * units;
    noted_["seed"] = seed;
    noted_["huge_page_bytes"] = huge_page_bytes();
    noted_["bytes_per_sample"] = bytes();
    noted_["footprint_over_last_level"] = footprint / caches;
    noted_["vectors"] = vector_target();
  }

  Sample sample() override {
    const double elapsed_s = run(units_);
    return {bytes() / elapsed_s, elapsed_s};
  }

 private:
  double bytes() const { return static_cast<double>(units_) * granule_; }
  double run(std::size_t units) {
    return team_.time([&](int rank) { sets_[static_cast<std::size_t>(rank)]->run(units); });
  }
  std::size_t huge_page_bytes() const {
    std::size_t bytes = 0;
    for (const auto& set : sets_) bytes += set->bytes_in_huge_pages();
    return bytes;
  }

  double granule_;
  std::vector<std::unique_ptr<StreamSet>> sets_;
  std::size_t units_ = 0;
};

std::vector<Parameters> points(StreamKind kind, const Device& device, Effort effort) {
  const Hierarchy hierarchy = read_hierarchy(device.facts);
  const bool stores = kind == StreamKind::write || kind == StreamKind::copy;
  std::vector<Parameters> points;
  for (int threads : thread_counts(hierarchy, effort)) {
    const auto footprints = stream_footprints(hierarchy, threads, granule(kind, threads), effort);
    for (double footprint : footprints)
      points.push_back({{"footprint", footprint}, {"page", "huge"}, {"threads", 1.0 * threads}});
    if (stores && effort != Effort::quick && threads == hierarchy.cores) {  // in DRAM
      points.push_back(points.back());
      points.back()["stores"] = "nt";
    }
  }
  return points;
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  const int threads = static_cast<int>(require_parameter(parameters, "threads"));
  if (auto reason = threads_reason(device.facts, threads)) return reason;
  if (auto reason = huge_pages_reason(device.facts)) return reason;
  return memory_reason(device.facts, require_parameter(parameters, "footprint"));
}

std::unique_ptr<Case> make(StreamKind kind, const Device& device, const Parameters& parameters) {
  const int threads = static_cast<int>(require_parameter(parameters, "threads"));
  const StoreKind stores =
      word(parameters, "stores") == "nt" ? StoreKind::non_temporal : StoreKind::regular;
  return std::make_unique<StreamCase>(kind, stores, require_parameter(parameters, "footprint"),
                                      threads,
                                      last_level_capacity(read_hierarchy(device.facts), threads));
}

Benchmark row(StreamKind kind, const std::string& name, const std::string& method) {
  return {
      .id = name,
      .quantity = name,
      .unit = Unit::byte_per_second,
      .device = DeviceKind::cpu,
      .method = method +
                " Each core streams through arrays of its own in huge pages; from the first "
                "thread's start to the last one's end.",
      .points = [kind](const Device& device,
                       Effort effort) { return points(kind, device, effort); },
      .unsupported = unsupported,
      .make = [kind](const Device& device,
                     const Parameters& parameters) { return make(kind, device, parameters); },
      .limit = nullptr,
      .work = nullptr,
  };
}

}  // namespace

Benchmark read_bandwidth() {
  return row(StreamKind::read, "bandwidth.read", "Bytes loaded and summed as integers over time.");
}

Benchmark write_bandwidth() {
  return row(StreamKind::write, "bandwidth.write",
             "Bytes stored over time; the reads for ownership that regular stores cause are not "
             "counted.");
}

Benchmark copy_bandwidth() {
  return row(StreamKind::copy, "bandwidth.copy",
             "Bytes loaded and stored (twice the array) over time; reads for ownership are not "
             "counted.");
}

Benchmark triad_bandwidth() {
  return row(StreamKind::triad, "bandwidth.triad",
             "a = b + s c: bytes loaded and stored (three arrays) over time; reads for ownership "
             "are not counted.");
}

}  // namespace warpmeter
