// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/measurement.h"

namespace warpmeter {

// One sample of a case.
struct Sample {
  double value = 0;  // in the unit of the benchmark's row
  double elapsed_s =
      0;  // the timed part only; at least a millisecond unless the quantity forbids it
};

// One campaign of one point: the constructor allocates fresh memory, fills it, loads and warms
// every code path and verifies the result against a reference; sample() then times. A wrong result
// throws std::runtime_error whose text begins with "corrupt:".
class Case {
 public:
  virtual ~Case() = default;
  virtual Sample sample() = 0;
  // What was seen while sampling: measured clock (clock_hz), offered load, pages really huge, ...
  // SI units.
  virtual Json conditions() const { return Json::object(); }
};

// How much of a sweep to run. `quick` is for tests: few points, small footprints, the same code
// paths.
enum class Effort { quick, standard, thorough };

// One row of the table: a quantity, how it is obtained, where it can run, and how to run one point
// of its sweep.
struct Benchmark {
  std::string id;        // equals the quantity; for kernels "kernel.<name>"
  std::string quantity;  // docs/quantities.md
  Unit unit = Unit::one;
  DeviceKind device = DeviceKind::cpu;
  std::string method;  // one sentence, copied into each measurement
  std::function<std::vector<Parameters>(const Device&, Effort)> points;
  // Null if the point can be measured on this device, else the reason.
  std::function<std::optional<std::string>(const Device&, const Parameters&)> unsupported;
  std::function<std::unique_ptr<Case>(const Device&, const Parameters&)> make;
  // The physical limit of the value in `unit`, if one is known: beyond 1.02 times it the verdict is
  // above_limit.
  std::function<std::optional<double>(const Device&, const Parameters&)> limit;
  std::function<Work(const Parameters&)> work;  // kernels only, else empty
};

}  // namespace warpmeter
