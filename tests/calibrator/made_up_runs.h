// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "calibrator/calibrate.h"

namespace warpmeter {

inline constexpr double kib = 1024, mib = 1024 * kib;

inline void add(Run& run, const std::string& quantity, const Parameters& parameters,
                std::vector<std::vector<double>> samples, Unit unit = Unit::second) {
  Measurement measurement;
  measurement.id = measurement_id(quantity, parameters);
  measurement.quantity = quantity;
  measurement.parameters = parameters;
  measurement.unit = unit;
  measurement.value = campaign_median(samples);
  measurement.interval = bootstrap_interval(samples);
  measurement.samples = std::move(samples);
  run.measurements.push_back(std::move(measurement));
}

inline void add(Run& run, const std::string& quantity, const Parameters& parameters, double value,
                Unit unit = Unit::second) {
  add(run, quantity, parameters, {{0.99 * value}, {value}, {1.01 * value}}, unit);
}

// A host with 48 KiB, 2 MiB and 64 MiB of cache.
inline Run host() {
  Run run;
  run.device = "cpu";
  run.facts["cpu.model"] = {"test", std::nullopt, "test"};
  run.facts["cpu.cores"] = {2, Unit::one, "test"};
  run.facts["cpu.threads"] = {2, Unit::one, "test"};
  run.facts["cache.l1d.size"] = {48 * kib, Unit::byte, "test"};
  run.facts["cache.l2.size"] = {2 * mib, Unit::byte, "test"};
  run.facts["cache.l3.size"] = {64 * mib, Unit::byte, "test"};
  run.facts["cache.l1d.shared_by"] = {1, Unit::one, "test"};
  run.facts["cache.l2.shared_by"] = {1, Unit::one, "test"};
  run.facts["cache.l3.shared_by"] = {2, Unit::one, "test"};
  return run;
}

// Doubling footprints from 4 KiB on with these latencies in ns.
inline void add_chase(Run& run, const std::vector<double>& ns, const std::string& page = "huge") {
  double footprint = 4 * kib;
  for (const double value : ns) {
    add(run, "latency.chase", {{"footprint", footprint}, {"page", page}}, value * 1e-9);
    footprint *= 2;
  }
}

// 4 .. 32 KiB L1, 64 KiB .. 1 MiB L2, 4 .. 32 MiB L3, 128 MiB .. 1 GiB DRAM
inline const std::vector<double> clean{1,  1,  1,  1,  4,  4,  4,  4,  4, 8,
                                       20, 20, 20, 20, 60, 90, 90, 90, 90};

inline Machine calibrate_one(const Run& run) { return calibrate({&run, 1}); }

}  // namespace warpmeter
