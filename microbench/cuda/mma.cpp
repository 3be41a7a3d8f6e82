// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <memory>

#include "core/stats.h"
#include "microbench/cuda/mma_case.h"
#include "microbench/cuda/rows.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

class MmaCase : public Case {
 public:
  MmaCase(const Device& device, const Load& load) : runner_(device, load) {}

  Sample sample() override {
    const auto timed = runner_.run();
    ops_per_cycle_.push_back(runner_.ops() / runner_.blocks() / timed.clock->cycles);
    return {runner_.ops() / timed.event_s, timed.event_s};
  }

  Json conditions() const override {
    Json result = runner_.session().conditions();
    result["ops_formula"] = "4096 * blocks * 16 warps * 8 accumulators * 2 products * trips";
    result["blocks"] = runner_.blocks();
    result["trips"] = runner_.trips();
    result["data"] = "random bf16, magnitudes 0.5 to 2";
    if (const auto rate = median(ops_per_cycle_)) result["ops_per_cycle_per_block"] = *rate;
    return result;
  }

 private:
  MmaRunner runner_;
  std::vector<double> ops_per_cycle_;
};

std::vector<Parameters> points(const Device&, Effort effort) {
  std::vector<Parameters> result;
  for (const char* scope : {"sm", "device"}) {
    for (const char* phase : {"burst", "sustained"}) {
      if (effort == Effort::quick && std::string(phase) == "sustained") continue;
      result.push_back(
          {{"type", "bf16"}, {"shape", "m16n8k16"}, {"scope", scope}, {"phase", phase}});
    }
  }
  return result;
}

}  // namespace

Benchmark throughput_mma_row() {
  Benchmark row;
  row.id = row.quantity = "throughput.mma";
  row.unit = Unit::op_per_second;
  row.device = DeviceKind::cuda;
  row.method =
      "16 warps per SM issue mma.sync m16n8k16 (bf16 operands, f32 sums) into eight independent "
      "accumulators each, operands in registers; two operations per multiply-add over event time. "
      "Not "
      "the ceiling of wgmma or tcgen05, where a GPU has those.";
  row.points = points;
  row.unsupported = [](const Device&, const Parameters&) { return std::nullopt; };
  row.make = [](const Device& device, const Parameters& parameters) -> std::unique_ptr<Case> {
    return std::make_unique<MmaCase>(device, load_of(parameters));
  };
  row.limit = [](const Device& device, const Parameters& parameters) {
    const double sms = fact_number(device.facts, "sm.count").value_or(0);
    return mma_peak(device, load_of(parameters).scope == "sm" ? 1 : sms);
  };
  return row;
}

}  // namespace warpmeter
