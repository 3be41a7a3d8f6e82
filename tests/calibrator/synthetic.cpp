// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/calibrator/synthetic.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "core/stats.h"

namespace warpmeter::test {
namespace {

enum class Sense { time, rate };  // an outlier makes a time longer and a rate lower

class Measurer {
 public:
  explicit Measurer(std::uint64_t seed) : random_(seed) {
    campaigns_ = static_cast<int>(uniform(4, 9));
    samples_ = static_cast<int>(uniform(7, 16));
    scatter_ = uniform(0.01, 0.03);
    campaign_scatter_ = uniform(0.005, 0.015);
    clock_.assign(campaigns_, 0.0);
    if (uniform(0, 1) < 0.3) {
      const double step = uniform(-0.015, 0.015);
      const int from = static_cast<int>(uniform(campaigns_ / 2 + 1, campaigns_));
      for (int i = from; i < campaigns_; ++i) clock_[i] = step;
    }
  }

  double uniform(double lo, double hi) {
    return std::uniform_real_distribution<double>(lo, hi)(random_);
  }
  double log_uniform(double lo, double hi) { return std::exp(uniform(std::log(lo), std::log(hi))); }

  void measure(Run& run, const std::string& quantity, Parameters parameters, double truth,
               Unit unit) {
    const Sense sense = unit == Unit::second ? Sense::time : Sense::rate;
    Measurement measurement;
    measurement.id = measurement_id(quantity, parameters);
    measurement.quantity = quantity;
    measurement.parameters = std::move(parameters);
    measurement.unit = unit;
    for (int i = 0; i < campaigns_; ++i) {
      const double offset =
          campaign_scatter_ * normal_(random_) + (sense == Sense::time ? -clock_[i] : clock_[i]);
      measurement.samples.push_back(campaign(truth * std::exp(offset), sense));
    }
    measurement.value = campaign_median(measurement.samples);
    measurement.interval = bootstrap_interval(measurement.samples, default_level, 1, 300);
    run.measurements.push_back(std::move(measurement));
  }

 private:
  std::vector<double> campaign(double truth, Sense sense) {
    const double drift = uniform(-0.01, 0.01);
    std::vector<double> samples;
    for (int i = 0; i < samples_; ++i) {
      double factor = 1 + scatter_ * normal_(random_) + drift * (i / (samples_ - 1.0) - 0.5);
      if (uniform(0, 1) < 0.05) {
        const double slow = 1 + std::exponential_distribution<double>(5)(random_);
        factor *= sense == Sense::time ? slow : 1 / slow;
      }
      samples.push_back(truth * factor);
    }
    return samples;
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  int campaigns_ = 5, samples_ = 9;
  double scatter_ = 0.02, campaign_scatter_ = 0.01;
  std::vector<double> clock_;
};

// Caches that hold everything up to their capacity and lose their hits over the next `soft` of it,
// as random replacement does.
struct Caches {
  std::vector<double> capacity;  // B
  std::vector<double> soft;      // share of the capacity

  // Share of accesses to a set of x bytes that the level with this index (the last is DRAM) serves.
  double share(std::size_t level, double x) const {
    const auto hit = [&](std::size_t i) {
      return std::clamp(1 - (x / capacity[i] - 1) / soft[i], 0.0, 1.0);
    };
    double left = 1;
    for (std::size_t i = 0; i < level; ++i) left *= 1 - hit(i);
    return level < capacity.size() ? left * hit(level) : left;
  }

  double latency(const std::vector<double>& of_level, double x) const {
    double sum = 0;
    for (std::size_t i = 0; i < of_level.size(); ++i) sum += share(i, x) * of_level[i];
    return sum;
  }

  double bandwidth(const std::vector<double>& of_level, double x) const {
    double time = 0;
    for (std::size_t i = 0; i < of_level.size(); ++i) time += share(i, x) / of_level[i];
    return 1 / time;
  }
};

constexpr double kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

std::vector<double> log_grid(double lo, double hi, double per_octave) {
  std::vector<double> x;
  for (double at = lo; at < hi * 1.001; at *= std::exp2(1 / per_octave)) {
    x.push_back(std::round(at / 64) * 64);
  }
  return x;
}

// The nominal sizes are what the facts say; what a chase finds is a little less.
Caches draw_caches(Measurer& measurer, const std::vector<double>& nominal) {
  Caches caches;
  for (const double size : nominal) {
    caches.capacity.push_back(size * measurer.uniform(0.75, 1));
    caches.soft.push_back(measurer.uniform(0.1, 0.6));
  }
  return caches;
}

void measure_scalar(Measurer& measurer, Synthetic& machine, const std::string& name,
                    const std::string& quantity, const Parameters& parameters, Unit unit, double lo,
                    double hi) {
  const double truth = measurer.log_uniform(lo, hi);
  machine.truth[name] = truth;
  measurer.measure(machine.run, quantity, parameters, truth, unit);
}

void measure_host_latency(Measurer& measurer, const Caches& caches, Synthetic& machine) {
  std::vector<double> latency{measurer.uniform(1e-9, 2e-9)};
  for (const auto& [lo, hi] : {std::pair{3.0, 4.0}, {3.0, 5.0}, {2.0, 4.0}}) {
    latency.push_back(latency.back() * measurer.uniform(lo, hi));
  }
  const double miss = measurer.uniform(5e-9, 20e-9);
  machine.truth["latency.tlb_miss"] = miss;
  const char* names[] = {"latency.l1.hit", "latency.l2.hit", "latency.l3.hit", "latency.dram"};
  for (std::size_t i = 0; i < 4; ++i) machine.truth[names[i]] = latency[i];
  for (std::size_t i = 0; i < 3; ++i) {
    machine.truth["capacity.l" + std::to_string(i + 1)] = caches.capacity[i];
  }
  for (const double x : log_grid(4 * kib, gib, 3)) {
    const double reach = std::clamp(std::log2(x / (8 * mib)), 0.0, 1.0);  // of the TLB, passed
    const double t = caches.latency(latency, x);
    measurer.measure(machine.run, "latency.chase", {{"footprint", x}, {"page", "huge"}}, t,
                     Unit::second);
    measurer.measure(machine.run, "latency.chase", {{"footprint", x}, {"page", "4k"}},
                     t + reach * miss, Unit::second);
  }
}

void measure_host_bandwidth(Measurer& measurer, const Caches& caches,
                            const std::vector<double>& nominal, Synthetic& machine) {
  for (const std::string access : {"read", "copy"}) {
    for (const double threads : {1.0, 4.0}) {
      std::vector<double> bandwidth{threads * measurer.uniform(100e9, 300e9)};
      for (int i = 0; i < 3; ++i) {
        bandwidth.push_back(bandwidth.back() * measurer.uniform(0.3, 0.6));
      }
      // L1 and L2 are private to a core, L3 is shared.
      Caches reach = caches;
      reach.capacity[0] *= threads;
      reach.capacity[1] *= threads;
      const char* names[] = {"l1", "l2", "l3", "dram"};
      const std::string scope = threads == 1 ? ".core" : ".device";
      std::vector<double> footprints{8 * nominal[2], 4 * nominal[2]};
      for (std::size_t i = 0; i < 4; ++i) {
        machine.truth["bandwidth." + std::string(names[i]) + "." + access + scope] = bandwidth[i];
        if (i == 3) continue;
        const double size = nominal[i] * (i < 2 ? threads : 1);
        for (const double share : {0.25, 0.35, 0.5, 0.75}) footprints.push_back(size * share);
      }
      for (const double x : footprints) {
        measurer.measure(machine.run, "bandwidth." + access,
                         {{"footprint", x}, {"page", "huge"}, {"threads", threads}},
                         reach.bandwidth(bandwidth, x), Unit::byte_per_second);
      }
    }
  }
}

double p_norm(double a, double b, double p) {
  return std::pow(std::pow(a, p) + std::pow(b, p), 1 / p);
}

void measure_saturation(Measurer& measurer, Synthetic& machine) {
  const double bandwidth = measurer.log_uniform(5e9, 20e9);
  const double in_flight = 64 * measurer.uniform(5, 14);
  const double latency = in_flight / bandwidth;
  const double p = measurer.uniform(1.5, 6);
  machine.truth["bandwidth.dram.saturated.core"] = bandwidth;
  machine.truth["latency.dram.in_flight"] = latency;
  machine.truth["concurrency.dram.core"] = in_flight;
  for (const double chains : {1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48}) {
    const double n = 64 * chains;
    measurer.measure(machine.run, "bandwidth.in_flight", {{"footprint", gib}, {"in_flight", n}},
                     n / p_norm(latency, n / bandwidth, p), Unit::byte_per_second);
  }
}

void measure_transfer(Measurer& measurer, Synthetic& machine, const std::string& direction) {
  const double a = measurer.log_uniform(2e-6, 10e-6);
  const double b = measurer.log_uniform(10e9, 60e9);
  const double p = measurer.uniform(0.7, 2);
  machine.truth["transfer." + direction + ".latency"] = a;
  machine.truth["transfer." + direction + ".bandwidth"] = b;
  for (int power = 4; power <= 32; power += 2) {
    const double n = std::exp2(power);
    measurer.measure(machine.run, "transfer.time",
                     {{"direction", direction}, {"engine", "ce"}, {"size", n}}, p_norm(a, n / b, p),
                     Unit::second);
  }
}

void add_fact(Run& run, const std::string& name, Json value, std::optional<Unit> unit) {
  run.facts[name] = {std::move(value), unit, "planted"};
}

}  // namespace

Synthetic synthetic_host(std::uint64_t seed) {
  Measurer measurer(seed);
  Synthetic machine;
  machine.run.device = "cpu";
  const std::vector<double> nominal{measurer.uniform(0, 1) < 0.5 ? 32 * kib : 48 * kib,
                                    measurer.uniform(0, 1) < 0.5 ? mib : 2 * mib,
                                    measurer.uniform(0, 1) < 0.5 ? 24 * mib : 64 * mib};
  add_fact(machine.run, "cpu.model", "synthetic", std::nullopt);
  add_fact(machine.run, "cpu.cores", 4, Unit::one);
  add_fact(machine.run, "cpu.threads", 4, Unit::one);
  const char* caches_named[] = {"cache.l1d", "cache.l2", "cache.l3"};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = caches_named[i];
    add_fact(machine.run, name + ".size", nominal[i], Unit::byte);
    add_fact(machine.run, name + ".shared_by", i < 2 ? 1 : 4, Unit::one);
  }
  const Caches caches = draw_caches(measurer, nominal);
  measure_host_latency(measurer, caches, machine);
  measure_host_bandwidth(measurer, caches, nominal, machine);
  measure_saturation(measurer, machine);
  for (const std::string type : {"f32", "f64"}) {
    for (const std::string phase : {"burst", "sustained"}) {
      for (const double threads : {1.0, 4.0}) {
        measure_scalar(measurer, machine,
                       "throughput.fma." + type + (threads == 1 ? ".core." : ".device.") + phase,
                       "throughput.fma", {{"type", type}, {"phase", phase}, {"threads", threads}},
                       Unit::op_per_second, 1e10, 1e12);
      }
    }
  }
  measure_scalar(measurer, machine, "launch.fork_join", "launch.fork_join", {{"threads", 4.0}},
                 Unit::second, 1e-6, 1e-5);
  return machine;
}

Synthetic synthetic_gpu(std::uint64_t seed) {
  Measurer measurer(seed);
  Synthetic machine;
  machine.run.device = "cuda:0";
  const std::vector<double> nominal{192 * kib, 40 * mib};
  add_fact(machine.run, "cache.l2.size", nominal[1], Unit::byte);
  const Caches caches = draw_caches(measurer, nominal);
  const double clock = measurer.uniform(1.2e9, 2e9);
  const std::vector<double> latency{measurer.uniform(30, 45) / clock,
                                    measurer.uniform(190, 300) / clock,
                                    measurer.uniform(450, 900) / clock};
  const char* names[] = {"latency.l1.hit", "latency.l2.hit", "latency.dram"};
  for (std::size_t i = 0; i < 3; ++i) machine.truth[names[i]] = latency[i];
  machine.truth["capacity.l1"] = caches.capacity[0];
  machine.truth["capacity.l2"] = caches.capacity[1];
  for (const double x : log_grid(2 * kib, 2 * gib, 3)) {
    measurer.measure(machine.run, "latency.chase",
                     {{"footprint", x}, {"page", "default"}, {"path", "ca"}},
                     caches.latency(latency, x), Unit::second);
  }
  measure_transfer(measurer, machine, "h2d");
  measure_transfer(measurer, machine, "d2h");
  measure_scalar(measurer, machine, "throughput.mma.bf16.device", "throughput.mma",
                 {{"type", "bf16"}, {"shape", "m16n8k16"}, {"scope", "device"}},
                 Unit::op_per_second, 1e14, 1e15);
  measure_scalar(measurer, machine, "launch.stream", "launch.stream", {}, Unit::second, 1e-6, 4e-6);
  measure_scalar(measurer, machine, "launch.graph", "launch.graph", {}, Unit::second, 5e-7, 2e-6);
  return machine;
}

}  // namespace warpmeter::test
