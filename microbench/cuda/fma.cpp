// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <memory>

#include "core/stats.h"
#include "microbench/cuda/fma_case.h"
#include "microbench/cuda/rows.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

class FmaLatencyCase : public Case {
 public:
  explicit FmaLatencyCase(const Device& device)
      : runner_(device, FmaRunner::Kernel::chain, Load{"sm", "burst"}) {}

  Sample sample() override {
    const ClockReading clock = *runner_.run().clock;
    cycles_.push_back(clock.cycles / steps());
    return {clock.seconds / steps(), clock.seconds};
  }

  Json conditions() const override {
    Json result = runner_.session().conditions();
    result["steps"] = steps();
    if (const auto cycles = median(cycles_)) result["cycles_per_step"] = *cycles;
    return result;
  }

 private:
  double steps() const { return static_cast<double>(fma_chain_unroll) * runner_.trips(); }

  FmaRunner runner_;
  std::vector<double> cycles_;
};

class FmaThroughputCase : public Case {
 public:
  FmaThroughputCase(const Device& device, const Load& load)
      : runner_(device, FmaRunner::Kernel::throughput, load) {}

  Sample sample() override {
    const auto timed = runner_.run();
    ops_per_cycle_.push_back(ops() / runner_.blocks() / timed.clock->cycles);
    return {ops() / timed.event_s, timed.event_s};
  }

  Json conditions() const override {
    Json result = runner_.session().conditions();
    result["ops_formula"] = "2 * blocks * 1024 threads * 8 chains * 24 steps * trips";
    result["blocks"] = runner_.blocks();
    result["trips"] = runner_.trips();
    if (const auto rate = median(ops_per_cycle_)) result["ops_per_cycle_per_block"] = *rate;
    return result;
  }

 private:
  double ops() const {
    return 2.0 * runner_.blocks() * fma_threads * fma_chains * fma_unroll * runner_.trips();
  }

  FmaRunner runner_;
  std::vector<double> ops_per_cycle_;
};

Benchmark cuda_row(const std::string& quantity, Unit unit) {
  Benchmark row;
  row.id = row.quantity = quantity;
  row.unit = unit;
  row.device = DeviceKind::cuda;
  row.unsupported = [](const Device&, const Parameters&) { return std::nullopt; };
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return row;
}

std::vector<Parameters> throughput_points(const Device&, Effort effort) {
  std::vector<Parameters> result;
  for (const char* scope : {"sm", "device"}) {
    for (const char* phase : {"burst", "sustained"}) {
      if (effort == Effort::quick && std::string(phase) == "sustained") continue;
      result.push_back({{"type", "f32"}, {"scope", scope}, {"phase", phase}});
    }
  }
  return result;
}

}  // namespace

Benchmark latency_fma_row() {
  Benchmark row = cuda_row("latency.fma", Unit::second);
  row.method =
      "One warp runs a dependent chain of fma.rn.f32; %globaltimer around the loop over its steps.";
  row.points = [](const Device&, Effort) { return std::vector<Parameters>{{{"type", "f32"}}}; };
  row.make = [](const Device& device, const Parameters&) -> std::unique_ptr<Case> {
    return std::make_unique<FmaLatencyCase>(device);
  };
  return row;
}

Benchmark throughput_fma_row() {
  Benchmark row = cuda_row("throughput.fma", Unit::op_per_second);
  row.method =
      "1024 threads per SM run eight independent chains of fma.rn.f32 each; two operations per "
      "multiply-add over event time. burst: 2 ms after a rest; sustained: 20 ms after 2 s of the "
      "same.";
  row.points = throughput_points;
  row.make = [](const Device& device, const Parameters& parameters) -> std::unique_ptr<Case> {
    return std::make_unique<FmaThroughputCase>(device, load_of(parameters));
  };
  row.limit = [](const Device& device, const Parameters& parameters) {
    const double sms = fact_number(device.facts, "sm.count").value_or(0);
    return fma_peak(device, load_of(parameters).scope == "sm" ? 1 : sms);
  };
  return row;
}

}  // namespace warpmeter
