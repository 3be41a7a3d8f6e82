// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <memory>
#include <variant>

#include "microbench/cuda/fma_case.h"
#include "microbench/cuda/mma_case.h"
#include "microbench/cuda/rows.h"

namespace warpmeter {
namespace {

// The clock while `Runner` keeps its SMs busy, after it has settled.
template <typename Runner>
class ClockCase : public Case {
 public:
  template <typename... Arguments>
  explicit ClockCase(const Arguments&... arguments) : runner_(arguments...) {}

  Sample sample() override {
    const ClockReading clock = *runner_.run().clock;
    return {clock.hz, clock.seconds};
  }

  Json conditions() const override { return runner_.session().conditions(); }

 private:
  Runner runner_;
};

std::unique_ptr<Case> make(const Device& device, const Parameters& parameters) {
  using Fma = FmaRunner::Kernel;
  const Load load{"device", "sustained"};
  const std::string kind = word(parameters, "load").value_or("");
  if (kind == "scalar") return std::make_unique<ClockCase<FmaRunner>>(device, Fma::chain, load);
  if (kind == "vector")
    return std::make_unique<ClockCase<FmaRunner>>(device, Fma::throughput, load);
  return std::make_unique<ClockCase<MmaRunner>>(device, load);
}

}  // namespace

Benchmark clock_core_row() {
  Benchmark row;
  row.id = row.quantity = "clock.core";
  row.unit = Unit::hertz;
  row.device = DeviceKind::cuda;
  row.method =
      "d(clock64)/d(globaltimer) around the loop on every SM that runs it, median over SMs, after "
      "2 s "
      "of the same load (scalar: one warp of multiply-adds; vector: f32 multiply-adds on all SMs; "
      "tensor: bf16 products on all SMs).";
  row.points = [](const Device&, Effort effort) {
    std::vector<Parameters> result = {{{"load", "scalar"}}};
    if (effort == Effort::quick) return result;
    result.push_back({{"load", "vector"}});
    result.push_back({{"load", "tensor"}});
    return result;
  };
  row.unsupported = [](const Device&, const Parameters&) { return std::nullopt; };
  row.make = make;
  row.limit = [](const Device& device, const Parameters&) {
    return fact_number(device.facts, "clock.sm.max");
  };
  return row;
}

}  // namespace warpmeter
