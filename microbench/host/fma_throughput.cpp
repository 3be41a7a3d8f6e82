// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "core/error.h"
#include "microbench/host/clock.h"
#include "microbench/host/fma_work.h"
#include "microbench/host/hierarchy.h"
#include "microbench/host/host_case.h"
#include "microbench/host/rows.h"
#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

enum class Phase { burst, sustained };

constexpr auto idle = std::chrono::milliseconds(10);
constexpr double heavy_s = 0.5;

class ThroughputCase : public HostCase {
 public:
  ThroughputCase(FmaType type, int threads, Phase phase)
      : HostCase(first_cores(threads)), phase_(phase) {
    const std::uint64_t seed = fresh_seed();
    works_.resize(static_cast<std::size_t>(threads));
    team_.run([&](int rank) {
      auto& work = works_[static_cast<std::size_t>(rank)];
      work = make_fma_work(type, seed + static_cast<std::uint64_t>(rank));
      work->verify();
    });
    blocks_ = calibrate([&](std::size_t blocks) { return run(blocks); });
    if (phase == Phase::sustained) heat();
    noted_["seed"] = seed;
    noted_["ops_per_sample"] = ops();
    noted_["vectors"] = type == FmaType::f64 || type == FmaType::f32 ? vector_target() : "AVX-512";
  }

  Sample sample() override {
    if (phase_ == Phase::burst) std::this_thread::sleep_for(idle);
    const double elapsed_s = run(blocks_);
    return {ops() / elapsed_s, elapsed_s};
  }

 private:
  double run(std::size_t blocks) {
    return team_.time([&](int rank) { works_[static_cast<std::size_t>(rank)]->run(blocks); });
  }

  void heat() {
    const double until = now_s() + heavy_s;
    while (now_s() < until) run(10 * blocks_);
  }

  double ops() const {
    return static_cast<double>(blocks_ * works_.size()) * works_.front()->ops_per_block();
  }

  Phase phase_;
  std::vector<std::unique_ptr<FmaWork>> works_;
  std::size_t blocks_ = 0;
};

std::vector<Parameters> points(const Device& device, Effort effort) {
  std::vector<int> threads = thread_counts(read_hierarchy(device.facts), effort);
  if (effort == Effort::standard && threads.size() > 2) threads = {1, threads.back()};
  std::vector<Parameters> points;
  for (const char* phase : {"burst", "sustained"}) {
    if (effort == Effort::quick && std::string(phase) == "sustained") continue;
    for (const char* type : {"f64", "f32", "bf16", "int8"})
      for (int count : threads)
        points.push_back({{"phase", phase}, {"threads", 1.0 * count}, {"type", type}});
  }
  return points;
}

std::optional<std::string> lacks(const Device& device, const std::string& feature) {
  const auto fact = device.facts.find("cpu.isa." + feature);
  if (fact != device.facts.end() && fact->second.value == true) return std::nullopt;
  return "this CPU has no " + feature;
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  const int threads = static_cast<int>(require_parameter(parameters, "threads"));
  if (auto reason = threads_reason(device.facts, threads)) return reason;
  if (word(parameters, "type") == "bf16") return lacks(device, "avx512_bf16");
  if (word(parameters, "type") == "int8") return lacks(device, "avx512_vnni");
  return std::nullopt;
}

std::unique_ptr<Case> make(const Device&, const Parameters& parameters) {
  const std::string phase = word(parameters, "phase").value_or("");
  if (phase != "burst" && phase != "sustained")
    throw InputError("phase must be burst or sustained");
  return std::make_unique<ThroughputCase>(
      parse_fma_type(word(parameters, "type").value_or("")),
      static_cast<int>(require_parameter(parameters, "threads")),
      phase == "burst" ? Phase::burst : Phase::sustained);
}

}  // namespace

Benchmark fma_throughput() {
  return {
      .id = "throughput.fma",
      .quantity = "throughput.fma",
      .unit = Unit::op_per_second,
      .device = DeviceKind::cpu,
      .method =
          "Independent multiply-adds (two operations each) on registers with random data; "
          "burst: each sample follows 10 ms of idling; sustained: after 0.5 s under load. "
          "bf16 is VDPBF16PS, int8 is VPDPBUSD.",
      .points = points,
      .unsupported = unsupported,
      .make = make,
      .limit = nullptr,
      .work = nullptr,
  };
}

}  // namespace warpmeter
