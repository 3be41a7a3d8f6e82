// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "core/error.h"
#include "kernels/host/fma.h"
#include "kernels/host/random.h"
#include "microbench/host/clock.h"
#include "microbench/host/host_case.h"
#include "microbench/host/references.h"
#include "microbench/host/rows.h"
#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

constexpr std::size_t verified_steps = 512;

template <class T>
class LatencyCase : public HostCase {
 public:
  LatencyCase() : HostCase(first_cores(1)), seed_(fresh_seed()) {
    Random random(seed_);
    for (T& value : start_) value = static_cast<T>(random.real(1, 2));
    for (T& value : factor_) value = static_cast<T>(random.real(-0x1.FFCp-1, -0x1.FF8p-1));
    for (T& value : addend_) value = static_cast<T>(random.real(1, 2));
    run(verified_steps / 16);
    const double tolerance = 8.0 * verified_steps * std::numeric_limits<T>::epsilon();
    if (!(std::abs(result_[0] - fma_reference(start_[0], factor_[0], addend_[0], verified_steps)) <=
          tolerance))
      throw std::runtime_error("corrupt: a multiply-add chain differs from its scalar reference");
    rounds_ = calibrate([&](std::size_t rounds) { return run(rounds); });
    noted_["seed"] = seed_;
    noted_["vectors"] = vector_target();
  }

  Sample sample() override {
    const double elapsed_s = run(rounds_);
    return {elapsed_s / static_cast<double>(16 * rounds_), elapsed_s};
  }

 private:
  static constexpr std::size_t lanes = 64 / sizeof(T);  // of the widest vector

  double run(std::size_t rounds) {
    return team_.time([&](int) { fma_chain(start_, factor_, addend_, 16 * rounds, result_); });
  }

  std::uint64_t seed_;
  alignas(64) T start_[lanes], factor_[lanes], addend_[lanes], result_[lanes];
  std::size_t rounds_ = 0;
};

std::vector<Parameters> points(const Device&, Effort) {
  return {{{"type", "f64"}}, {{"type", "f32"}}};
}

std::unique_ptr<Case> make(const Device&, const Parameters& parameters) {
  if (word(parameters, "type") == "f64") return std::make_unique<LatencyCase<double>>();
  if (word(parameters, "type") == "f32") return std::make_unique<LatencyCase<float>>();
  throw InputError("type must be f64 or f32");
}

}  // namespace

Benchmark fma_latency() {
  return {
      .id = "latency.fma",
      .quantity = "latency.fma",
      .unit = Unit::second,
      .device = DeviceKind::cpu,
      .method =
          "Time per multiply-add along one chain on a vector register, each waiting for the "
          "one before.",
      .points = points,
      .unsupported = [](const Device&, const Parameters&) { return std::nullopt; },
      .make = make,
      .limit = nullptr,
      .work = nullptr,
  };
}

}  // namespace warpmeter
